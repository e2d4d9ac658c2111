"""Suggestions for a misspelt word: the one place where words are compared."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the `known` words that are most like the word, the likeliest first.

    `cutoff` is how alike they must be, from 0 to 1.
    """
    from difflib import get_close_matches  # only a mistake needs it

    return get_close_matches(word, list(dict.fromkeys(known)), n=most, cutoff=cutoff)


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `; did you mean select?`, to put behind an error message; "" where no known word is like the word."""
    close = nearest(word, known, cutoff=cutoff)
    return f"; did you mean {close[0]}?" if close else ""
