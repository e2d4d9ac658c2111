"""Names that upstream's own files say where they said others in the release before, release by release.

successors.json has them (tools/upstream_successors.py, part of `make upstream`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.store import read_json
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.versions.releases import steps_between
from mfsdp_lint.upgrade.library import Name

SOURCE = Path(__file__).with_name("successors.json")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A name in the place of another one: in how many of upstream's files, and the parameters that it does not take.

    `lost` is None where the parameters of one of them are not told. 0 files: the same name, defined elsewhere.
    """

    name: Name
    files: int
    lost: tuple[str, ...] | None


def replacements(name: Name, old: Target, new: Target) -> list[Replacement]:
    """Return what stands in the place of a name over all releases between two, the most often written one first."""
    found = [Replacement(name, 0, ())]
    for step in _steps(old.data, new.data):
        found = [after for before in found for after in _after(before, step)]
    kept = {each.name: each for each in reversed(found) if each.name != name}
    return sorted(kept.values(), key=lambda each: (-each.files, each.name))


def _after(before: Replacement, step: Mapping[Name, list[Replacement]]) -> Iterator[Replacement]:
    if before.name not in step:
        yield before
    for each in step.get(before.name, ()):
        lost = None if each.lost is None or before.lost is None else (*before.lost, *each.lost)
        yield Replacement(each.name, min(each.files, before.files or each.files), lost)


def _steps(old: str, new: str) -> Iterator[Mapping[Name, list[Replacement]]]:
    steps = _both_ways()
    yield from (steps[pair] for pair in pairwise(steps_between(old, new)))


@cache
def _both_ways() -> Mapping[tuple[str, str], Mapping[Name, list[Replacement]]]:
    """Return the replacements of each release, and those of the way back, in which no parameters are known."""
    data: Mapping[str, Mapping[str, Mapping[str, tuple[int, list[str] | None]]]] = read_json(SOURCE)
    found: dict[tuple[str, str], dict[Name, list[Replacement]]] = {}
    for step, names in data.items():
        old, new = step.split(" ")
        there, back = found.setdefault((old, new), {}), found.setdefault((new, old), {})
        for gone, those in names.items():
            for name, (files, lost) in those.items():
                there.setdefault(_name(gone), []).append(
                    Replacement(_name(name), files, None if lost is None else tuple(lost))
                )
                back.setdefault(_name(name), []).append(Replacement(_name(gone), files, None))
    return found


def _name(text: str) -> Name:
    module, _, name = text.rpartition(".")
    return module, name
