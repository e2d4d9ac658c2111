"""The rules' examples as dry runs: what a table says of a rule."""

from __future__ import annotations

import pytest

from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.verify import TriedExample, VerifiedRule
from mfsdp_lint.reports.dry_run import verified_table

INSTALLED = Installed("python", "3.11", {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1", "torch": "2.13.0"})


def row(*verdicts: str) -> VerifiedRule:
    """A row by its verdicts; those that are for bad examples come first."""
    bad = ("confirmed", "refuted")
    tried = [
        TriedExample("MFSDP101", number, each in bad, each, "seen", 0.5) for number, each in enumerate(verdicts, 1)
    ]
    return VerifiedRule("MFSDP101", "fsdp-checkpoint-format", "introspect", tuple(tried))


@pytest.mark.parametrize(
    ("verdicts", "agreement"),
    [
        (["confirmed", "passed"], "agreement"),
        (["confirmed", "inconclusive", "passed"], "agreement"),
        (["confirmed"], "undecidable"),
        (["passed"], "undecidable"),
        (["refuted", "passed"], "disagreement"),
        (["confirmed", "failed"], "disagreement"),
        ([], "undecidable"),
    ],
)
def test_a_rule_agrees_when_a_bad_and_a_good_example_show_it(verdicts: list[str], agreement: str) -> None:
    assert row(*verdicts).agreement == agreement


def test_the_table_tells_what_stands_behind_every_other_verdict() -> None:
    text = verified_table([row("confirmed", "passed", "failed")], INSTALLED.label)
    assert (
        "| MFSDP101 fsdp-checkpoint-format | introspect | confirmed | 1 failed, 1 passed | 1.50 | disagreement |"
        in text
    )
    assert "megatron-bridge 0.3.1 with megatron-core 0.16.1 and torch 2.13.0: 1 rules tried" in text
    assert text.endswith("- MFSDP101 good 3: failed: seen\n")
