"""A dry run's verdict on a finding, in every format."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.reports import json as json_report
from mfsdp_lint.reports.forges import github, github_summary
from mfsdp_lint.reports.text import concise, full
from mfsdp_lint.reports.wording import verdict_text
from tests.reports import samples

CONFIRMED = Confirmation("confirmed", "introspect", "AssertionError: Megatron FSDP only supports\nfsdp_dtensor")


@pytest.mark.parametrize(
    ("confirmation", "words"),
    [
        (CONFIRMED, "a dry run (introspect) confirmed it: AssertionError: Megatron FSDP only supports fsdp_dtensor"),
        (
            Confirmation("refuted", "cpu", "it trains as plain DDP does"),
            "a dry run (cpu) refuted it: it trains as plain DDP does; the rule seems wrong for these versions, please "
            "report it",
        ),
        (
            Confirmation("inconclusive", "cpu", "TypeError: x", "the run without the mistake is not right either"),
            "a dry run (cpu) was inconclusive: the run without the mistake is not right either (seen: TypeError: x)",
        ),
        (
            Confirmation("hypothetical", "introspect", "TypeError: x", "would be confirmed if it saved"),
            "a dry run (introspect): it would be confirmed if it saved: TypeError: x",
        ),
        (Confirmation("inconclusive", "", "", "other versions"), "a dry run was inconclusive: other versions"),
    ],
)
def test_the_verdict_in_words(confirmation: Confirmation, words: str) -> None:
    assert verdict_text(confirmation) == words


def test_every_format_carries_it() -> None:
    finding = replace(samples.FORMAT, confirmation=CONFIRMED)
    assert verdict_text(CONFIRMED) in full([finding], samples.SUMMARY, samples.FILES.get)
    assert concise([finding], samples.SUMMARY).splitlines()[0].endswith(" [confirmed]")
    assert verdict_text(CONFIRMED) in github([finding], samples.SUMMARY).splitlines()[0].replace("%0A", "\n")
    assert "\\[confirmed\\]" in github_summary([finding], samples.SUMMARY)
    document = json.loads(json_report.render([finding], samples.SUMMARY))
    assert document["findings"][0]["confirmed"] == {
        "verdict": "confirmed",
        "tier": "introspect",
        "seen": CONFIRMED.seen,
        "reason": "",
    }
