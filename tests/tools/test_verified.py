"""The table of rules and versions says what was run, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mfsdp_lint.core.store import read_json
from mfsdp_lint.rules.load import load_rules
from tools.verified import FILE, PAGE, as_text, digest, digests, page, record

NOW = digests()
RULE = next(rule for rule in load_rules() if rule.code == "MFSDP101")


def printed(agreement: str, *verdicts: str, seen: str = "", tier: str = "introspect") -> Mapping[str, Any]:
    """What a run prints of one rule; bad examples first."""
    examples = [
        {"bad": verdict in ("confirmed", "refuted"), "number": 1, "verdict": verdict, "seen": seen}
        for verdict in verdicts
    ]
    return {
        "installed": {"torch": "2.13.0", "numpy": "2.3", "megatron-bridge": "0.3.1", "transformer-engine": None},
        "rules": [{"code": "MFSDP101", "tier": tier, "agreement": agreement, "examples": examples}],
    }


def cell(document: Mapping[str, Any], now: Mapping[str, str] = NOW) -> str:
    """What the table says of MFSDP101 with 0.3.1."""
    text = page([RULE], {"0.3.1": record("0.3.1", document, NOW)}, now)
    (row,) = (line for line in text.splitlines() if line.startswith("| [MFSDP101]"))
    return row.split(" | ")[2]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (printed("agreement", "confirmed", "passed"), "introspect"),
        (printed("agreement", "confirmed", "passed", tier="cpu"), "cpu"),
        (printed("disagreement", "refuted", "passed"), "**wrong**"),
        (printed("undecidable", "inconclusive", "passed"), "read"),
        (printed("undecidable", tier="gpu"), "read"),
    ],
)
def test_a_cell_says_how_a_rule_was_verified(document: Mapping[str, Any], said: str) -> None:
    assert cell(document) == said


def test_a_rule_that_changed_since_is_not_verified() -> None:
    assert cell(printed("agreement", "confirmed", "passed"), {**NOW, "MFSDP101": "another"}) == "read"


def test_what_is_changed_of_a_rule_counts_if_a_run_depends_on_it() -> None:
    rule = {"code": "X", "why": "because", "applies": "a", "evidence": {"0.3.1": "x:1"}}
    assert digest({**rule, "why": "for another reason", "evidence": {}}) == digest(rule)
    assert digest({**rule, "applies": "b"}) != digest(rule)


def test_the_reason_of_what_could_not_be_decided_is_kept_without_paths() -> None:
    document = printed("undecidable", "inconclusive", seen="cannot be imported from /home/me/Megatron:\n no module x")
    (example,) = record("0.3.1", document, NOW)["rules"]["MFSDP101"]["examples"]
    assert example == ["good 1", "inconclusive", "cannot be imported from … no module x"]


def test_a_source_tree_has_a_core_of_its_own() -> None:
    document = printed("agreement", "confirmed", "passed")
    assert record("0.3.1", document, NOW)["with"] == {"torch": "2.13.0", "megatron-bridge": "0.3.1"}
    assert record("core 0.17.1", document, NOW)["with"] == {"torch": "2.13.0"}


def test_the_share_that_was_run_is_told() -> None:
    text = page([RULE], {"0.3.1": record("0.3.1", printed("agreement", "confirmed", "passed"), NOW)}, NOW)
    assert "| 0.3.1 | 1 | 1 (100%) | 1 |" in text


def test_why_a_rule_was_not_run_is_told() -> None:
    text = page([RULE], {"0.3.1": record("0.3.1", printed("undecidable", "confirmed"), NOW)}, NOW)
    assert text.endswith("- MFSDP101 fsdp-checkpoint-format: no good example that can be run\n")


# -- what is checked in ---------------------------------------------------------------------------------------------


def test_the_page_is_that_of_the_records_and_the_rules() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(load_rules(), read_json(FILE), NOW)


def test_the_records_are_written_as_they_are_read() -> None:
    assert FILE.read_text(encoding="utf-8") == as_text(read_json(FILE))
