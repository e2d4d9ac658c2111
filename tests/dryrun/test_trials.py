"""What runs on two ranks say of a finding. The runs are made up here."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.dryrun import trials
from mfsdp_lint.dryrun.batch import Batch
from mfsdp_lint.dryrun.outcome import Outcome, Settings
from mfsdp_lint.dryrun.subject import tier_of
from mfsdp_lint.finding import Confirmation
from tests.dryrun.samples import FSDP, JUDGE, failed, subject, trained

PLAIN = trained(moments=200, sums=(680.0, 680.0))
INVALID = "ValueError: Invalid data_parallel_sharding_strategy: zero3"

UNKNOWN_STRATEGY = {**FSDP, "ddp.data_parallel_sharding_strategy": "zero3"}
UNREDUCED = {**FSDP, "ddp.data_parallel_sharding_strategy": "no_shard", "ddp.overlap_grad_reduce": False}


def verdicts(settings: Settings, megatron: Callable[[Settings], Outcome]) -> dict[str, Confirmation]:
    """The verdict on every finding of settings, by its code."""
    batch = Batch("python", 60)
    tried = [violation for violation in subject(settings).violations if tier_of(violation) == "cpu"]
    planned = trials.plan(batch, settings, tried, 2, JUDGE)
    for key, question in batch._wanted.items():
        fsdp = question.settings.get("ddp.use_megatron_fsdp")
        batch._outcomes[key] = megatron(question.settings) if fsdp else PLAIN
    return {trial.violation.rule.code: trials.confirm(trial, batch) for trial in planned}


def test_an_error_at_its_stage_and_a_control_run_that_trains_confirm() -> None:
    def megatron(settings: Settings) -> Outcome:
        wrong = settings["ddp.data_parallel_sharding_strategy"] == "zero3"
        return failed("wrap", INVALID) if wrong else trained()

    assert verdicts(UNKNOWN_STRATEGY, megatron)["MFSDP351"] == Confirmation("confirmed", "cpu", INVALID)


def test_the_same_error_at_another_stage_is_inconclusive() -> None:
    def megatron(settings: Settings) -> Outcome:
        wrong = settings["ddp.data_parallel_sharding_strategy"] == "zero3"
        return failed("first-step", INVALID) if wrong else trained()

    found = verdicts(UNKNOWN_STRATEGY, megatron)["MFSDP351"]
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("it ends in another stage, first-step")


def test_another_error_is_inconclusive() -> None:
    found = verdicts(UNKNOWN_STRATEGY, lambda _: failed("wrap", "ValueError: something else"))["MFSDP351"]
    assert found.reason == "it ends otherwise: ValueError: something else"


def test_a_run_that_passes_refutes_what_should_have_raised() -> None:
    assert verdicts(UNKNOWN_STRATEGY, lambda _: trained())["MFSDP351"].verdict == "refuted"


def test_a_rank_that_had_to_be_stopped_decides_nothing() -> None:
    found = verdicts(UNKNOWN_STRATEGY, lambda _: failed("wrap", "Ended: stopped after 60 s"))["MFSDP351"]
    assert found == Confirmation("inconclusive", "cpu", "", "Ended: stopped after 60 s")


def test_what_nothing_raises_is_confirmed_by_comparison_with_plain_ddp() -> None:
    def megatron(settings: Settings) -> Outcome:
        unreduced = not settings["ddp.overlap_grad_reduce"] and (
            settings["ddp.data_parallel_sharding_strategy"] == "no_shard"
        )
        return trained(moments=200, sums=(684.3, 675.6)) if unreduced else trained()

    found = verdicts(UNREDUCED, megatron)["MFSDP354"]
    assert found.verdict == "confirmed"
    assert "the replicas drift apart: their weights sum up to 684.3, 675.6" in found.seen


def test_what_nothing_raises_and_nothing_shows_is_refuted() -> None:
    assert verdicts(UNREDUCED, lambda _: trained())["MFSDP354"].verdict == "refuted"


def test_a_control_run_that_is_wrong_as_well_confirms_nothing() -> None:
    found = verdicts(UNREDUCED, lambda _: trained(norms=(4.2, 2.2, 2.0)))["MFSDP354"]
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("the control run is not right either")
