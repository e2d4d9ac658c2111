"""Fixes that have an edit in common."""

from __future__ import annotations

from mfsdp_lint.core.finding import Edit, Fix
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.apply import grouped


def fix(*lines: int) -> Fix:
    return Fix("safe", tuple(Edit(Span("r.py", line, 1, line, 2), "x") for line in lines))


def test_fixes_with_an_edit_in_common_go_together_and_so_do_those_in_between() -> None:
    found = grouped({"a": fix(1, 2), "b": fix(2, 3), "c": fix(3), "d": fix(4)})
    assert {key: each.together for key, each in found.items()} == {
        "a": ("b", "c"),
        "b": ("a", "c"),
        "c": ("a", "b"),
        "d": (),
    }
