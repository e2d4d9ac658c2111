"""The tree is Megatron-Bridge or Megatron-LM itself, or holds a checkout of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.detect.found import Found
from mfsdp_lint.detect.places import Places, join
from mfsdp_lint.inputs import disk
from mfsdp_lint.versions.ranges import VersionError, numbers

BRIDGE = ("src/megatron/bridge/package_info.py", "megatron/bridge/package_info.py")
CORE = "megatron/core/package_info.py"
PINNED_CORE = f"3rdparty/Megatron-LM/{CORE}"

_PART = re.compile(r"""^(MAJOR|MINOR|PATCH|PRE_RELEASE)\s*=\s*(?:(\d+)|["']([\w.]*)["'])""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Probe:
    """A text in a file of megatron-core (empty: the file or folder itself) that lines from `since` to below `before`
    have, and no other. Paths are relative to `megatron/core`."""

    path: str
    text: str
    since: tuple[int, int]
    before: tuple[int, int]


PROBES = (
    Probe("distributed/custom_fsdp", "", (0, 11), (0, 14)),
    Probe("distributed/fsdp", "", (0, 14), (1, 0)),
    Probe("distributed/distributed_data_parallel_config.py", "fsdp_manual_registration", (0, 16), (1, 0)),
    Probe("distributed/fsdp/mcore_fsdp_adapter.py", "Grandfathered Argument", (0, 17), (0, 19)),
    Probe("distributed/torch_fully_sharded_data_parallel.py", "def finish_grad_sync", (0, 19), (1, 0)),
    Probe("distributed/distributed_data_parallel_config.py", "megatron_fsdp_version", (0, 20), (1, 0)),
)
"""Checked on the tags core_v0.12.0 … core_v0.19.0, on main at d98e8a6 and on the commits that Bridge releases pin.

The 0.16.0rc0 that Bridge 0.2 pins still lacks what 0.16.0 has, and passes for 0.15."""

LINES = tuple((0, minor) for minor in range(12, 21))


def in_tree(places: Places) -> Iterator[Found]:
    """The versions of the Megatron sources that lie in the folders themselves."""
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
    """The megatron-core whose package_info.py this is, as its own features tell where they and the file disagree."""
    says = declared(places.text(path))
    if says is None:
        return None
    line, fits = numbers(says)[:2], _lines(places, os.path.dirname(path))
    if line < LINES[0] and (not fits or LINES[0] in fits):
        places.remarks.append(f"{path} says {says}, of which nothing is known: only the text of scripts is judged")
        return Found(path, core=_named(LINES[0]), older=says)
    if not fits or line in fits:
        return Found(path, core=says)
    nearest = min(fits, key=lambda each: (abs(each[1] - line[1]), each))
    version = _named(nearest)
    places.remarks.append(f"{path} says {says}, but the code is that of megatron-core {version}")
    return Found(path, core=version)


def _named(line: tuple[int, int]) -> str:
    return ".".join(str(part) for part in line)


def declared(text: str) -> str | None:
    """The version that a package_info.py declares; None where it declares none."""
    parts = {match[1]: match[2] or match[3] or "" for match in _PART.finditer(text)}
    if not all(parts.get(name, "").isdigit() for name in ("MAJOR", "MINOR", "PATCH")):
        return None
    version = f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}{parts.get('PRE_RELEASE', '')}"
    try:
        numbers(version)
    except VersionError:
        return None
    return version


def _lines(places: Places, core: str) -> list[tuple[int, int]]:
    """The lines of megatron-core that agree with all probes; all of them where its features are not at hand."""
    if not disk.is_folder(os.path.join(core, "distributed")):
        return []
    has = {probe: _has(places, core, probe) for probe in PROBES}
    return [line for line in LINES if all(has[probe] == (probe.since <= line < probe.before) for probe in PROBES)]


def _has(places: Places, core: str, probe: Probe) -> bool:
    path = os.path.join(core, *probe.path.split("/"))
    return probe.text in places.text(path) if probe.text else disk.exists(path)
