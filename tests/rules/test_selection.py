"""`--select` and `--ignore`."""

from __future__ import annotations

import pytest

from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.selection import resolved, selected

CODES = ("MFSDP101", "MFSDP102", "MFSDP201")


@pytest.mark.parametrize(
    ("why", "select", "ignore", "expected"),
    [
        ("nothing said: all", [], [], {"MFSDP101", "MFSDP102", "MFSDP201"}),
        ("a code", ["MFSDP101"], [], {"MFSDP101"}),
        ("a prefix", ["MFSDP1"], [], {"MFSDP101", "MFSDP102"}),
        ("several", ["MFSDP101", "MFSDP2"], [], {"MFSDP101", "MFSDP201"}),
        ("all but a family", [], ["MFSDP1"], {"MFSDP201"}),
        ("a family but one code", ["MFSDP1"], ["MFSDP102"], {"MFSDP101"}),
        ("the longer one decides", ["MFSDP101"], ["MFSDP1"], {"MFSDP101"}),
        ("between equals, ignore", ["MFSDP101"], ["MFSDP101"], set()),
    ],
)
def test_which_rules_count(why: str, select: list[str], ignore: list[str], expected: set[str]) -> None:
    assert selected(CODES, select, ignore) == expected, why


NAMES = {"MFSDP101": "fsdp-checkpoint-format", "MFSDP102": "other", "MFSDP201": "two-wrappers"}


def test_a_name_stands_for_its_code() -> None:
    assert resolved(["two-wrappers", "MFSDP1"], NAMES, "select") == ("MFSDP201", "MFSDP1")


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("mfsdp201", "MFSDP201"),
        ("MFDSP201", "MFSDP201"),
        ("FSDP201", "MFSDP201"),
        ("fsdp-checkpoint-fromat", "fsdp-checkpoint-format"),
    ],
)
def test_an_unknown_word_is_answered_with_a_near_one(wrong: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=rf"select: there is no rule '{wrong}'; did you mean {nearest}\?$"):
        resolved([wrong], NAMES, "select")


@pytest.mark.parametrize("wrong", ["MFSDP999", "MFSDP210", "E501", "unused-import"])
def test_what_is_near_nothing_is_answered_with_nothing(wrong: str) -> None:
    with pytest.raises(UsageError, match=rf"select: there is no rule '{wrong}'$"):
        resolved([wrong], NAMES, "select")
