"""Facts that depend on a version, stored as runs over a list of versions: `[[first, last, fact], …]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value
from mfsdp_lint.versions.ranges import HEAD, Numbers, VersionError, numbers

Runs = Sequence[tuple[int, int, Any]]

_NOT_PLAIN = "?"
"""The key of the mapping that stands for a value that is no plain one."""


def column_of(versions: Sequence[str], version: str) -> int | None:
    """The column that stands for a version: its own, else that of the newest one before it in its line, else of the
    oldest in its line, else of the newest before it. What is newer than every release is the development head.

    None for a version older than all, and for a text that is no version.
    """
    if version in versions:
        return versions.index(version)
    try:
        asked = numbers(version)
    except VersionError:
        return None
    known = [numbers(each) for each in versions]
    earlier = [place for place, each in enumerate(known) if _filled(each) <= _filled(asked)]
    line = [place for place, each in enumerate(known) if each[:2] == asked[:2]]
    in_line = [place for place in earlier if place in line]
    if in_line or line:
        return in_line[-1] if in_line else line[0]
    releases = [place for place, each in enumerate(versions) if each != HEAD]
    if HEAD in versions and releases and earlier[-1:] == releases[-1:]:
        return versions.index(HEAD)
    return earlier[-1] if earlier else None


def _filled(version: Numbers) -> Numbers:
    return (*version, *(0,) * (3 - len(version)))


def at(runs: Runs, column: int) -> Any:
    """The fact of one column. Raises LookupError where there is none."""
    for first, last, fact in runs:
        if first <= column <= last:
            return fact
    raise LookupError(column)


def runs_of(facts: Sequence[Any], missing: Any = None) -> list[list[Any]]:
    """The facts of all columns as runs; `missing` is left out."""
    runs: list[list[Any]] = []
    for place, fact in enumerate(facts):
        if fact is missing:
            continue
        if runs and runs[-1][1] == place - 1 and _equal(runs[-1][2], fact):
            runs[-1][1] = place
        else:
            runs.append([place, place, fact])
    return runs


def _equal(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def encode(value: Value) -> Any:
    """A value as JSON."""
    if isinstance(value, Known):
        return value.value
    return {_NOT_PLAIN: value.state}


def decode(data: Any) -> Value:
    """The value that `encode` wrote."""
    if isinstance(data, dict) and set(data) == {_NOT_PLAIN}:
        return NOT_NONE if data[_NOT_PLAIN] == NOT_NONE.state else UNKNOWN
    plain: Plain = data
    return Known(plain)
