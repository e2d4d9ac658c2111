"""Regular expressions of linted files: they may take exponential time, so the package `regex` limits it."""

from __future__ import annotations

import re
import warnings
from typing import Any

PATIENCE = 0.2
"""Seconds that a regular expression may take."""

_LONGEST_PATTERN = 1_000


class NotMatched(Exception):
    """The matches of a pattern are not known."""


def compiled(pattern: str | bytes, flags: int = 0) -> Any:
    """Compile a regular expression with the package that can limit its time.

    Raises NotMatched where that package is not there, or reads the pattern in another way than Python does.
    """
    try:
        import regex
    except ImportError:
        raise NotMatched from None  # in a browser

    if len(pattern) > _LONGEST_PATTERN:
        raise NotMatched
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern, flags)
        except Warning:
            raise NotMatched from None  # `[[` and the like mean something else there
    # `{e<=1}` is a text here, and an approximate match there.
    if re.search(r"\{(?!\d*,?\d*\})", pattern if isinstance(pattern, str) else pattern.decode("latin-1")):
        raise NotMatched
    return regex.compile(pattern, flags)


def matched(expression: Any, method: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a method of a compiled expression. Raises TimeoutError after PATIENCE."""
    if method not in ("findall", "finditer"):
        return getattr(expression, method)(*arguments, **keywords, timeout=PATIENCE)
    matches = list(expression.finditer(*arguments, **keywords, timeout=PATIENCE))
    return matches if method == "finditer" else list(map(_found, matches))


def _found(match: Any) -> Any:
    """Return an item of `re.findall`: the package's own gives a tuple for a single group that is repeated."""
    groups = tuple(match.string[:0] if group is None else group for group in match.groups())
    return match.group() if not groups else groups[0] if len(groups) == 1 else groups
