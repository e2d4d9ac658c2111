"""Incremental reading: what a reading of changed texts takes over from the one before it.

Running an entry point reads its own file and what that reaches by imports. Where none of these has changed, it gives
what it gave before: proofs of fixes change few files of many.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.entries.entries import Entry
from mfsdp_lint.readers.python.entries.running import Found
from mfsdp_lint.readers.python.values.objects import Function

Key = tuple[str, int, str]
"""A function: its file, its line and its name."""


def key_of(function: Function) -> Key:
    """What tells a function from all others, in every reading of the same texts."""
    return function.module.path, function.node.lineno, function.name


def keys_within(function: Function) -> Iterator[Key]:
    """The keys of a function and of the functions inside of it."""
    yield key_of(function)
    for node in ast.walk(function.node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield function.module.path, node.lineno, node.name


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
    found: tuple[Found, ...] = ()
    lost: Unfollowed | None = None
    called: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Before:
    """A reading: its texts, the entry points of every file that was asked for, and the `users` of every file."""

    sources: Sources
    tried: Mapping[str, list[Tried]]
    users: Mapping[str, set[str]]

    def unchanged(self, sources: Sources) -> dict[str, list[Tried]]:
        """The entry points of the files for which other texts make no difference."""
        affected = {
            path for path in {*self.tried, *self.users} if self.sources.text_or_none(path) != sources.text_or_none(path)
        }
        pending = [*affected]
        while pending:
            more = self.users.get(pending.pop(), set()) - affected
            affected |= more
            pending += more
        return {path: tried for path, tried in self.tried.items() if path not in affected}


def together(*readings: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The users that each file has in any of several readings."""
    found: dict[str, set[str]] = {}
    for users in readings:
        for path, more in users.items():
            found.setdefault(path, set()).update(more)
    return found
