"""Finding a rule: by code, by name, and by what a run has printed."""

from __future__ import annotations

import pytest

from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.selection import SHORTEST, errors, lookup

RULES = load_rules()

TRACEBACK = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/opt/Megatron-Bridge/src/megatron/bridge/training/config.py", line 1474, in validate
[rank0]:     assert self.checkpoint.ckpt_format == "fsdp_dtensor", (
[rank0]: AssertionError: Megatron FSDP only supports fsdp_dtensor
[rank0]:     checkpoint format
"""


def codes(text: str) -> list[str]:
    return [rule.code for rule in lookup(text, RULES).rules]


@pytest.mark.parametrize("text", ["MFSDP101", "mfsdp101", " fsdp-checkpoint-format "])
def test_a_rule_is_found_by_its_code_and_its_name(text: str) -> None:
    assert codes(text) == ["MFSDP101"]


@pytest.mark.parametrize(
    "text",
    [
        "Megatron FSDP only supports fsdp_dtensor checkpoint format",
        "AssertionError: Megatron FSDP  only supports\n  FSDP_DTENSOR checkpoint format",
        "only supports fsdp_dtensor checkpoint",
        TRACEBACK,
    ],
)
def test_a_rule_is_found_by_the_error_that_it_foresees(text: str) -> None:
    assert "MFSDP101" in codes(text)


def test_what_is_in_a_hole_of_an_error_text_does_not_matter() -> None:
    holed = [(rule, text) for rule in RULES for text in errors(rule) if len(text.pieces()) > 1]
    assert holed
    for rule, text in holed:
        assert rule.code in codes("something that was there".join(text.pieces()))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_error_text_leads_to_its_rule(rule: object) -> None:
    for text in errors(rule):  # type: ignore[arg-type]
        if len(text.fixed()) >= SHORTEST:
            assert rule in lookup(f"RuntimeError: {''.join(text.pieces())}", RULES).rules


def test_what_is_nearly_a_name_or_an_error_leads_to_the_nearest() -> None:
    assert lookup("fsdp-checkpoint-fromat", RULES).nearest[0].code == "MFSDP101"
    near = lookup("Megatron FSDP supports only the fsdp_dtensor checkpoint format", RULES)
    assert "MFSDP101" in [rule.code for rule in (*near.rules, *near.nearest)]


def test_nonsense_leads_nowhere() -> None:
    found = lookup("out of coffee", RULES)
    assert found.rules == found.nearest == ()
