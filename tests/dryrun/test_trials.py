"""What runs on two ranks say of a finding. The runs are made up here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.dryrun import trials
from mfsdp_lint.dryrun.evidence import confirmed_by, supposed
from mfsdp_lint.dryrun.inventory import CPU, Device
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from mfsdp_lint.dryrun.ranks import Batch, launched
from mfsdp_lint.dryrun.subject import tier_of
from tests.dryrun.samples import FSDP, JUDGE, failed, subject, trained

PLAIN = trained(moments=200, sums=(680.0, 680.0))
INVALID = "ValueError: Invalid data_parallel_sharding_strategy: zero3"

UNKNOWN_STRATEGY = {**FSDP, "ddp.data_parallel_sharding_strategy": "zero3"}
HOPPER = Device("cuda", "nccl", transformer_engine=True, capability=(9, 0))
UNREDUCED = {**FSDP, "ddp.data_parallel_sharding_strategy": "no_shard", "ddp.overlap_grad_reduce": False}


def verdicts(
    settings: PlainSettings,
    megatron: Callable[[PlainSettings], RunOutcome],
    *,
    ranks: int = 2,
    device: Device = CPU,
    most: int | None = None,
) -> dict[str, Confirmation]:
    """The verdict on every finding of settings, by its code."""
    batch = Batch(launched("python", timeout=60), device, most)
    tried = [violation for violation in subject(settings).violations if tier_of(violation) in device.decides]
    planned = trials.plan(batch, settings, tried, ranks, JUDGE)
    for key, question in batch._wanted.items():
        fsdp = question.settings.get("ddp.use_megatron_fsdp")
        batch._outcomes[key] = megatron(question.settings) if fsdp else PLAIN
    return {trial.violation.rule.code: trials.confirm(trial, batch) for trial in planned}


def test_an_error_at_its_stage_and_a_control_run_that_trains_confirm() -> None:
    def megatron(settings: PlainSettings) -> RunOutcome:
        wrong = settings["ddp.data_parallel_sharding_strategy"] == "zero3"
        return failed("wrap", INVALID) if wrong else trained()

    assert verdicts(UNKNOWN_STRATEGY, megatron)["MFSDP351"] == Confirmation("confirmed", "cpu", INVALID)


def test_the_same_error_at_another_stage_is_inconclusive() -> None:
    def megatron(settings: PlainSettings) -> RunOutcome:
        wrong = settings["ddp.data_parallel_sharding_strategy"] == "zero3"
        return failed("first-step", INVALID) if wrong else trained()

    found = verdicts(UNKNOWN_STRATEGY, megatron)["MFSDP351"]
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("it fails in another stage than the rule says (first-step)")


def test_another_error_is_inconclusive() -> None:
    found = verdicts(UNKNOWN_STRATEGY, lambda _: failed("wrap", "ValueError: something else"))["MFSDP351"]
    assert found.reason == "the error is not the rule's: ValueError: something else"


def test_a_run_that_passes_refutes_what_should_have_raised() -> None:
    assert verdicts(UNKNOWN_STRATEGY, lambda _: trained())["MFSDP351"].verdict == "refuted"


def test_a_rank_that_had_to_be_stopped_decides_nothing() -> None:
    found = verdicts(UNKNOWN_STRATEGY, lambda _: failed("wrap", "Ended: stopped after 60 s"))["MFSDP351"]
    assert found == Confirmation("inconclusive", "cpu", "", "stopped after 60 s")


def test_what_nothing_raises_is_confirmed_by_comparison_with_plain_ddp() -> None:
    def megatron(settings: PlainSettings) -> RunOutcome:
        unreduced = not settings["ddp.overlap_grad_reduce"] and (
            settings["ddp.data_parallel_sharding_strategy"] == "no_shard"
        )
        return trained(moments=200, sums=(684.3, 675.6)) if unreduced else trained()

    found = verdicts(UNREDUCED, megatron)["MFSDP354"]
    assert found.verdict == "confirmed"
    assert "the replicas drift apart: their weights sum up to 684.3, 675.6" in found.seen


def test_what_nothing_raises_is_looked_for_in_32_bits() -> None:
    """In 16 bits numbers may be off by more than what is wrong with them."""
    seen = []

    def megatron(settings: PlainSettings) -> RunOutcome:
        seen.append(settings["mixed_precision"])
        return trained(norms=(1.81, 1.0, 0.9)) if not settings["ddp.overlap_grad_reduce"] else trained()

    found = verdicts({**UNREDUCED, "mixed_precision": "bf16_mixed"}, megatron)["MFSDP354"]
    assert (found.verdict, set(seen)) == ("confirmed", {None})


def test_what_nothing_raises_and_nothing_shows_is_refuted() -> None:
    assert verdicts(UNREDUCED, lambda _: trained())["MFSDP354"].verdict == "refuted"


def test_a_control_run_that_is_wrong_as_well_confirms_nothing() -> None:
    found = verdicts(UNREDUCED, lambda _: trained(norms=(4.2, 2.2, 2.0)))["MFSDP354"]
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("the run without the mistake is not right either")


def test_one_rank_refutes_nothing() -> None:
    for settings, code in ((UNKNOWN_STRATEGY, "MFSDP351"), (UNREDUCED, "MFSDP354")):
        found = verdicts(settings, lambda _: trained(sums=(680.0,)), ranks=1, most=1)[code]
        assert found.verdict == "inconclusive"
        assert found.reason == "it ran through on one rank, which shares nothing with another"


def test_hybrid_sharding_takes_more_ranks_than_there_may_be() -> None:
    hybrid = {**UNKNOWN_STRATEGY, "ddp.num_distributed_optimizer_instances": 2}
    found = verdicts(hybrid, lambda _: trained(), ranks=2, most=2, device=HOPPER)["MFSDP351"]
    assert found.reason == "it takes 4 ranks, and --ranks asks for 2"


def test_a_gpu_decides_what_a_cpu_cannot() -> None:
    offloaded = {**FSDP, "optimizer.optimizer_cpu_offload": True}

    def megatron(settings: PlainSettings) -> RunOutcome:
        return failed("first-step", "RuntimeError: boom") if settings["optimizer.optimizer_cpu_offload"] else trained()

    assert "MFSDP450" not in verdicts(offloaded, megatron)
    found = verdicts(offloaded, megatron, device=HOPPER)["MFSDP450"]
    assert found == Confirmation("confirmed", "gpu", "RuntimeError: boom")


def test_what_need_not_show_in_a_few_steps_is_not_refuted_by_them() -> None:
    found = verdicts({**FSDP, "optimizer.optimizer_cpu_offload": True}, lambda _: trained(), device=HOPPER)["MFSDP450"]
    assert (found.verdict, found.seen) == ("inconclusive", "it trains as plain DDP does")


def test_a_gpu_without_memory_left_decides_nothing() -> None:
    full = failed("wrap", "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    assert verdicts(UNKNOWN_STRATEGY, lambda _: full, device=HOPPER)["MFSDP351"].verdict == "inconclusive"


def test_what_is_loaded_is_saved_with_the_settings_that_the_rule_says() -> None:
    foreign = {**FSDP, "checkpoint.load": "/models/llama3_8b/torch_dist"}  # MFSDP150
    batch = Batch(launched("python", timeout=60))
    tried = [each for each in subject(foreign).violations if each.rule.code == "MFSDP150"]
    (trial,) = trials.plan(batch, foreign, tried, 2, JUDGE)
    assert trial.bad is not None
    assert trial.bad.load is not None
    saver, loader = (batch._wanted[key] for key in (trial.bad.run, trial.bad.load))
    assert (saver.save, loader.load) == (saver.name, saver.name)
    formats = [each.settings["checkpoint.ckpt_format"] for each in (saver, loader)]
    assert formats == ["torch_dist", "fsdp_dtensor"]
    assert [each.settings["ddp.use_megatron_fsdp"] for each in (saver, loader)] == [False, True]


BASE = {"checkpoint.pretrained_checkpoint": "/ckpt/base"}


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        ({**BASE, "checkpoint.strict_fsdp_dtensor_load": False}, "MFSDP153", "what it loads was saved like that"),
        ({"checkpoint.load": "/ckpt/torch_dist"}, "MFSDP150", "what it loads was saved like that"),
    ],
)
def test_a_warning_about_what_a_folder_holds_supposes_that_folder(
    settings: PlainSettings, code: str, told: str
) -> None:
    """The trial made it, and nobody knows what the recipe's own one holds."""
    (violation,) = (each for each in subject({**FSDP, **settings}).violations if each.rule.code == code)
    assert supposed(violation) == told
    assert confirmed_by(violation, "cpu", "seen") == Confirmation(
        "hypothetical", "cpu", "seen", f"would be confirmed if {told}"
    )
