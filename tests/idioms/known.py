"""The misses that are known: `idiom  versions  what`, a line each, sorted. The list may only get shorter."""

from __future__ import annotations

from collections.abc import Iterable

from tests.idioms.compare import Outcome
from tests.idioms.suite import FOLDER, VERSIONS

FILE = FOLDER / "known_misses.txt"

Miss = tuple[str, str, str]
"""Idiom, version, what."""


def known_misses() -> frozenset[Miss]:
    """What the file lists."""
    found = set()
    for line in FILE.read_text().splitlines():
        idiom, versions, what = line.split("  ", 2)
        found |= {(idiom, version, what) for version in (VERSIONS if versions == "all" else versions.split(","))}
    return frozenset(found)


def write(outcomes: Iterable[Outcome]) -> None:
    """Lists the misses of these outcomes, those that many versions share once."""
    versions: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for miss in outcome.misses:
            versions.setdefault((outcome.idiom, miss), []).append(outcome.version)
    lines = [
        f"{idiom}  {'all' if len(where) == len(VERSIONS) else ','.join(where)}  {what}"
        for (idiom, what), where in sorted(versions.items())
    ]
    FILE.write_text("".join(f"{line}\n" for line in lines))
