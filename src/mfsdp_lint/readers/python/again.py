"""Reading again: what a reading of changed texts takes over from the one before it.

Running an entry point reads its own file and what that reaches by imports. Where none of these has changed, it gives
what it gave before: proofs of fixes change few files of many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mfsdp_lint.readers.python.entries import Entry
from mfsdp_lint.readers.python.objects import Function
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.sources import Sources, Unreadable

Key = tuple[str, int, str]
"""A function: its file, its line and its name."""


def key_of(function: Function) -> Key:
    """What tells a function from all others, in every reading of the same texts."""
    return function.module.path, function.node.lineno, function.name


class Different(Exception):
    """What was taken over does not go together with what was read anew."""


@dataclass(slots=True)
class Tried:
    """An entry point that was found in the file `path`, and what running it gave.

    One that is `late` is run by itself only where no other one `called` it: whether it `ran` depends on other files.
    """

    path: str
    entry: Entry
    late: bool = False
    ran: bool = False
    recipe: Recipe | None = None
    called: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Before:
    """A reading: its texts, the entry points of every file that was asked for, and the files that each file `uses`."""

    sources: Sources
    tried: Mapping[str, list[Tried]] = field(default_factory=dict)
    uses: Mapping[str, Iterable[str]] = field(default_factory=dict)

    def unchanged(self, sources: Sources) -> dict[str, list[Tried]]:
        """The entry points of the files for which other texts make no difference."""
        same = {path: _text(self.sources, path) == _text(sources, path) for path in (*self.tried, *_files(self.uses))}
        return {path: tried for path, tried in self.tried.items() if all(same[each] for each in self._reached(path))}

    def _reached(self, path: str) -> set[str]:
        found, pending = {path}, [path]
        while pending:
            more = set(self.uses.get(pending.pop(), ())) - found
            found |= more
            pending += more
        return found


def together(*uses: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The files that each file uses in any of several readings."""
    found: dict[str, set[str]] = {}
    for each in uses:
        for path, used in each.items():
            found.setdefault(path, set()).update(used)
    return found


def _files(uses: Mapping[str, Iterable[str]]) -> set[str]:
    return {path for each in uses.values() for path in each}


def _text(sources: Sources, path: str) -> str | None:
    try:
        return sources.text(path)
    except Unreadable:
        return None
