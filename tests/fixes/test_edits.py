"""How edits of several fixes go together."""

from __future__ import annotations

import pytest

from mfsdp_lint.fixes.edits import FileText, OverlapError, apply_all, apply_edits, merge

DOCUMENT = FileText("a.py", "one\r\ntwo\f2\rthree")


def test_insertions_at_one_place_keep_their_order_and_come_before_a_replacement_there() -> None:
    edits = [DOCUMENT.edit(5, 8, "2"), DOCUMENT.edit(5, 5, "b;"), DOCUMENT.edit(5, 5, "a;"), DOCUMENT.edit(0, 3, "1")]
    assert apply_edits("a.py", DOCUMENT.text, edits) == "1\r\nb;a;2\f2\rthree"


def test_equal_edits_of_two_fixes_are_made_once() -> None:
    edit = DOCUMENT.edit(5, 5, "x")
    assert merge([edit, DOCUMENT.edit(5, 5, "x")]) == (edit,)


def test_different_edits_of_the_same_text_are_refused() -> None:
    with pytest.raises(OverlapError, match=r"a\.py:2: two fixes change the same text"):
        merge([DOCUMENT.edit(5, 8, "x"), DOCUMENT.edit(6, 7, "y")])


def test_pieces_that_touch_do_not_overlap() -> None:
    edits = [DOCUMENT.edit(0, 3, ""), DOCUMENT.edit(3, 5, "")]
    assert apply_edits("a.py", DOCUMENT.text, edits) == "two\f2\rthree"


def test_edits_of_several_files() -> None:
    other = FileText("b.py", "x")
    edits = [DOCUMENT.edit(0, 3, "1"), other.edit(1, 1, "y")]
    changed = apply_all({"a.py": DOCUMENT.text, "b.py": "x", "c.py": "z"}, edits)
    assert changed == {"a.py": "1\r\ntwo\f2\rthree", "b.py": "xy"}


def test_what_is_added_to_an_inner_block_stands_before_what_is_added_to_the_outer_one() -> None:
    text = "if x:\n    y = 1\nz = 2\n"
    document = FileText("a.py", text)
    edits = [document.edit(16, 16, "b = 1\n"), document.edit(16, 16, "    a = 1\n")]
    assert apply_edits("a.py", text, edits) == "if x:\n    y = 1\n    a = 1\nb = 1\nz = 2\n"
