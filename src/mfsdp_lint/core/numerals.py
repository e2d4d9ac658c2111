"""Numbers that Python reads and cannot print: those of thousands of digits that are not decimal ones."""

from __future__ import annotations

import re

_HUGE = re.compile(r"0[xXoObB]\w{3500}")
"""Python itself refuses decimal numbers of more than 4,300 digits, which are some 3,570 hexadecimal ones."""


def refuse_huge(text: str) -> None:
    """Raise ValueError for a text with such a number, as Python does for a decimal one."""
    if _HUGE.search(text):
        raise ValueError("a number of thousands of digits")
