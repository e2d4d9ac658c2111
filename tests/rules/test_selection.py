"""`--select` and `--ignore`."""

from __future__ import annotations

import pytest

from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.selection import selected

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


@pytest.mark.parametrize("wrong", ["MFSDP210", "mfsdp201", "MFDSP201"])
def test_an_unknown_code_is_answered_with_the_nearest(wrong: str) -> None:
    with pytest.raises(UsageError, match=f"select: there is no rule '{wrong}'; the nearest is MFSDP201"):
        selected(CODES, [wrong], [])
    with pytest.raises(UsageError, match="ignore: there is no rule"):
        selected(CODES, [], [wrong])
