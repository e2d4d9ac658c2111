"""The tree is Megatron-Bridge or Megatron-LM itself, or holds a checkout of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.found import Found
from mfsdp_lint.inputs.detect.places import Places, join
from mfsdp_lint.megatron.versions.ranges import VersionError, numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES

BRIDGE = ("src/megatron/bridge/package_info.py", "megatron/bridge/package_info.py")
CORE = "megatron/core/package_info.py"
PINNED_CORE = f"3rdparty/Megatron-LM/{CORE}"

_PART = re.compile(r"""^(MAJOR|MINOR|PATCH|PRE_RELEASE)\s*=\s*(?:(\d+)|["']([\w.]*)["'])""", re.MULTILINE)


Line = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Probe:
    """A text in a file of megatron-core (empty: the file or folder itself) that lines from `since` to below `before`
    have, and no other. Paths are relative to `megatron/core`."""

    path: str
    text: str
    since: Line
    before: Line

    def is_in(self, line: Line) -> bool:
        """Tell whether a line has it."""
        return self.since <= line < self.before


PROBES = (
    Probe("distributed/custom_fsdp", "", (0, 11), (0, 14)),
    Probe("distributed/fsdp", "", (0, 14), (1, 0)),
    Probe("distributed/distributed_data_parallel_config.py", "fsdp_manual_registration", (0, 16), (1, 0)),
    Probe("distributed/finalize_model_grads.py", "force_all_reduce", (0, 16), (1, 0)),
    Probe("distributed/fsdp/mcore_fsdp_adapter.py", "Grandfathered Argument", (0, 17), (0, 19)),
    Probe("distributed/torch_fully_sharded_data_parallel.py", "def finish_grad_sync", (0, 19), (1, 0)),
    Probe("distributed/distributed_data_parallel_config.py", "megatron_fsdp_version", (0, 20), (1, 0)),
)
"""Checked on the tags core_v0.12.0 … core_v0.19.0, on main at d98e8a6 and on the commits that Bridge releases pin.

The 0.16.0rc0 that Bridge 0.2 pins still lacks what 0.16.0 has, and passes for 0.15."""

LINES: tuple[Line, ...] = tuple((0, minor) for minor in range(12, 21))


def in_tree(places: Places) -> Iterator[Found]:
    """Yield the versions of the Megatron sources that lie in the folders themselves."""
    for folder in places.folders:
        for path in (join(folder, each) for each in BRIDGE):
            if version := declared(places.text(path)):
                core = declared(places.text(join(folder, PINNED_CORE))) or declared(places.text(join(folder, CORE)))
                yield Found(path, bridge=version, core=core)
                break
        else:
            if core_found := core_at(places, join(folder, CORE)):
                yield core_found


def core_at(places: Places, path: str) -> Found | None:
    """Return the megatron-core that this package_info.py belongs to; its features decide where the file disagrees."""
    says = declared(places.text(path))
    if says is None:
        return None
    line, has = numbers(says)[:2], _features(places, os.path.dirname(path))
    fits = _lines(has)
    if line < LINES[0] and (not fits or LINES[0] in fits):
        places.remarks.append(f"{path} says {says}, of which nothing is known: only the text of scripts is judged")
        return Found(path, core=_named(LINES[0]), older=says)
    sides = None if fits else next((each for each in _between(has) if line in each), None)
    if sides is not None:
        named = " and ".join(map(_named, sides))
        places.remarks.append(f"{path} says {says}, but the code is from between megatron-core {named}: judged by both")
        return Found(path, core=f"{_releases(sides[0])[-1]} | {_releases(sides[1])[0]}", between=says)
    if not fits or line in fits:
        return Found(path, core=says)
    nearest = min(fits, key=lambda each: (abs(each[1] - line[1]), each))
    version = _named(nearest)
    places.remarks.append(f"{path} says {says}, but the code is that of megatron-core {version}")
    return Found(path, core=version)


def _named(line: Line) -> str:
    return ".".join(str(part) for part in line)


def declared(text: str) -> str | None:
    """Return the version that a package_info.py declares; None where it declares none."""
    parts = {match[1]: match[2] or match[3] or "" for match in _PART.finditer(text)}
    if not all(parts.get(name, "").isdigit() for name in ("MAJOR", "MINOR", "PATCH")):
        return None
    version = f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}{parts.get('PRE_RELEASE', '')}"
    try:
        numbers(version)
    except VersionError:
        return None
    return version


Features = Mapping[Probe, bool]


def _features(places: Places, core: str) -> Features:
    """Return for each probe whether the code has it; empty where the code is not at hand."""
    if not disk.is_folder(os.path.join(core, "distributed")):
        return {}
    return {probe: _has(places, core, probe) for probe in PROBES}


def _lines(has: Features) -> list[Line]:
    """Return the lines of megatron-core that agree with all probes."""
    return [line for line in LINES if has and all(has[probe] == probe.is_in(line) for probe in PROBES)]


def _between(has: Features) -> Iterator[tuple[Line, Line]]:
    """Yield the neighbouring lines of which every feature is that of one or of the other."""
    for sides in pairwise(LINES):
        if has and all(has[probe] in map(probe.is_in, sides) for probe in PROBES):
            yield sides


def _releases(line: Line) -> list[str]:
    """Return the releases of a line, the oldest first."""
    return [each.core for each in CORE_RELEASES if numbers(each.core)[:2] == line]


def _has(places: Places, core: str, probe: Probe) -> bool:
    path = os.path.join(core, *probe.path.split("/"))
    return probe.text in places.text(path) if probe.text else disk.exists(path)
