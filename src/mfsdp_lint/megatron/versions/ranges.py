"""Release numbers and ranges of them: `0.3.1`, `>=0.4,<0.6`.

A small part of PEP 440, with three readings that suit rules about behaviour. A range is compared at its own
precision: `0.4` is the whole 0.4 line, so 0.4.2 is `<=0.4` and not `>0.4`. A pre-release counts as the release it
leads to, since that is what its code looks like. `head`, the development branch, is newer than every release.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from mfsdp_lint.core.records import dataclass

Numbers = tuple[float, ...]

HEAD = "head"

# Nothing in it can be read in two ways: what is asked may be anything.
_NUMBER = r"[0-9]{1,18}"
_RELEASE = re.compile(rf"v?({_NUMBER}(?:\.{_NUMBER})*)(?:[.-]?(?:a|b|rc|dev|post)(?:\.?[0-9]+)?)*(?:\+[\w.]+)?")
_BOUND = re.compile(r"(<=|>=|==|!=|<|>)?\s*([^\s,<>=!]+)")
_COMPARE: dict[str, Callable[[Numbers, Numbers], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


class VersionError(ValueError):
    """A text that is no version, or no range of versions."""


@lru_cache(maxsize=1024)
def numbers(version: str) -> Numbers:
    """Return the numbers of a release, for comparisons; `head` is larger than all. Raises VersionError."""
    if version == HEAD:
        return (float("inf"),)
    match = _RELEASE.fullmatch(version)
    if match is None:
        raise VersionError(f"{version!r} is not a version")
    return tuple(int(part) for part in match[1].split("."))


def is_version(text: str) -> bool:
    """Tell whether a text is a version."""
    return text == HEAD or _RELEASE.fullmatch(text) is not None


Bound = tuple[str, Numbers]


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Alternatives, each a set of bounds that all have to hold. No bounds: every version."""

    text: str
    alternatives: tuple[tuple[Bound, ...], ...]

    def __contains__(self, version: str) -> bool:
        found = numbers(version)
        # Cut, or filled up with zeros, to as many numbers as the bound has.
        return any(
            all(_COMPARE[sign]((found + (0,) * len(bound))[: len(bound)], bound) for sign, bound in bounds)
            for bounds in self.alternatives
        )


@cache
def parse_range(text: str) -> VersionRange:
    """Read `"<0.5"`, `">=0.4,<0.6"`, `">=0.3.0 <=0.4.2"`, `"0.2 | >=0.5"`, `"0.4"` (the 0.4 line), `""` (all).

    Raises VersionError.
    """
    return VersionRange(text, tuple(_bounds(part, text) for part in text.split("|")))


def _bounds(part: str, text: str) -> tuple[Bound, ...]:
    bounds = []
    rest = part.strip()
    if not rest and text.strip():
        raise VersionError(f"{text!r} is not a range of versions")
    while rest:
        match = _BOUND.match(rest)
        if match is None:
            raise VersionError(f"{text!r} is not a range of versions")
        bounds.append((match[1] or "==", numbers(match[2])))
        rest = rest[match.end() :].lstrip(" ,")
    return tuple(bounds)


def column_of(versions: Sequence[str], version: str) -> int | None:
    """Find the column of a version.

    The column is its own, else that of the newest version before it in its line, else of the oldest in its line, else
    of the newest before it. A version newer than every release has the column of the development head. None for a
    version older than all, and for a text that is no version.
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
