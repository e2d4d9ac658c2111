"""Bounds of what is worked out: results of operations and formats stay small, whatever a program asks for."""

from __future__ import annotations

import string
from typing import Any

LONGEST_TEXT = 1_000_000
LONGEST_LIST = 100_000
WIDEST_NUMBER = 4096
"""Bits. Python itself does not write numbers of more than 4300 digits (about 14,000 bits) as text."""
HEAVIEST_TUPLE = 50_000
"""Elements of a tuple and of all tuples in it, each counted as often as it is met."""


def is_small(value: Any) -> bool:
    """Tell whether a result is small enough to go on with."""
    if isinstance(value, int):
        return value.bit_length() <= WIDEST_NUMBER
    if isinstance(value, (str, bytes)):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, tuple):
        return weighs_little(value)
    return True


def weighs_little(items: Any) -> bool:
    """Tell whether a sequence and its tuples have few elements (a tuple may hold another one twice, and so on)."""
    left = HEAVIEST_TUPLE
    pending = [items]
    while pending:
        here = pending.pop()
        left -= len(here)
        if left < 0:
            return False
        pending.extend(item for item in here if type(item) is tuple)
    return True


def is_wide(specification: str) -> bool:
    """Tell whether a format specification (`:>8`, `%03d`) may ask for a long text."""
    digits = "".join(char if char.isdigit() else " " for char in specification)
    return "*" in specification or any(len(run) > 3 for run in digits.split())


def can_format(template: str, values: list[Any]) -> bool:
    """Tell whether `template.format(*values)` stays small, and looks into none of the values."""
    longest = max([len(value) if isinstance(value, (str, bytes, tuple)) else 2_000 for value in values], default=0)
    if len(template) + template.count("{") * longest > LONGEST_TEXT:
        return False
    try:
        pieces = list(string.Formatter().parse(template))
    except ValueError:
        return True
    return not any(
        (specification and ("{" in specification or is_wide(specification)))
        or "." in (name or "")
        or "[" in (name or "")
        for _, name, specification, _ in pieces
    )
