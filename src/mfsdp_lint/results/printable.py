"""Text that is safe to print: what a file, a path or a value holds must not steer the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, combining, east_asian_width

from mfsdp_lint.core.finding import AffectedRecipe

_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control, direction and other invisible characters, lone surrogates, line and paragraph separators."""


def printable(text: str) -> str:
    """The text on one line, with what would steer the terminal shown escaped (`\\x1b`, `\\n`)."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    return ascii(character)[1:-1] if category(character) in _STEERING else character


def width(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def shorten(recipes: Sequence[AffectedRecipe], shown: int = 1) -> str:
    """`llama3_8b_pretrain_config and 41 more`."""
    names = ", ".join(printable(recipe.name) for recipe in recipes[:shown])
    more = len(recipes) - shown
    return f"{names} and {more} more" if more > 0 else names


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
