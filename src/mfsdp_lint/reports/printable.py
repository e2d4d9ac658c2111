"""Text that is safe to print: what a file, a path or a value holds must not steer the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

from mfsdp_lint.core.finding import AffectedRecipe
from mfsdp_lint.terminal import printable as printable


def width(text: str) -> int:
    """Count the terminal columns of a text: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def shorten(recipes: Sequence[AffectedRecipe], shown: int = 1) -> str:
    """Name the first recipes and count the others: `llama3_8b_pretrain_config and 41 more`."""
    names = ", ".join(printable(recipe.name) for recipe in recipes[:shown])
    more = len(recipes) - shown
    return f"{names} and {more} more" if more > 0 else names


def count(number: int, noun: str) -> str:
    """Write a number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
