"""A mistake that raises nothing, confirmed by what is seen of the run with it, and not of the one without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.dryrun import evidence
from mfsdp_lint.dryrun.introspection import confirm, validate
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from tests.dryrun.samples import FSDP, JUDGE, PASSED, failed, subject

AVERAGED = {**FSDP, "ddp.average_in_collective": True}
"""Start-up switches it off with Megatron-FSDP (MFSDP502)."""


def verdict(megatron: Callable[[PlainSettings], RunOutcome]) -> Confirmation:
    asked = subject(AVERAGED)
    violation = next(each for each in asked.violations if each.rule.code == "MFSDP502")
    return confirm(violation, validate(AVERAGED, asked.violations, megatron, JUDGE), megatron)


def seeing(**after: object) -> RunOutcome:
    """A start-up that passed, and has put other values there."""
    return replace(PASSED, seen={f"after.{path.replace('__', '.')}": value for path, value in after.items()})


def switches_off(settings: PlainSettings) -> RunOutcome:
    return seeing(ddp__average_in_collective=False)


def test_a_value_that_start_up_replaces_is_confirmed_by_its_replacement() -> None:
    assert verdict(switches_off) == Confirmation(
        "confirmed",
        "introspect",
        "ddp.average_in_collective is False at the end of the run; "
        "without the mistake ddp.average_in_collective is False at the end of the run",
    )


def test_a_rule_that_says_it_of_a_value_that_stays_is_refuted() -> None:
    assert verdict(lambda settings: PASSED).verdict == "refuted"


def test_what_is_seen_without_the_mistake_as_well_shows_nothing() -> None:
    def changes_everything(settings: PlainSettings) -> RunOutcome:
        return seeing(ddp__average_in_collective=not settings["ddp.average_in_collective"])

    assert verdict(changes_everything).reason == "the run without the mistake shows it as well"


def test_what_was_not_seen_decides_nothing() -> None:
    not_given = replace(PASSED, left_out=("ddp.average_in_collective",))
    found = verdict(lambda settings: not_given)
    assert (found.verdict, found.reason) == ("inconclusive", "nothing was seen that would show it: it ran through")


def test_a_control_run_that_fails_decides_nothing() -> None:
    def fails_without(settings: PlainSettings) -> RunOutcome:
        if settings["ddp.average_in_collective"]:
            return switches_off(settings)
        return failed("startup", "ModuleNotFoundError: No module named 'nowhere'")

    assert verdict(fails_without).reason.startswith(
        "the run without the mistake is not right either: a package is missing here"
    )


def test_a_run_that_ends_otherwise_contradicts_nothing() -> None:
    folders = {"checkpoint.load": "/models/base", "checkpoint.save": "/results"}
    partial = {**FSDP, **folders, "checkpoint.strict_fsdp_dtensor_load": False}
    violation = next(each for each in subject(partial).violations if each.rule.code == "MFSDP153")
    missing, other = failed("load", "RuntimeError: Missing key"), failed("save", "RuntimeError: nowhere")

    def told(bad: RunOutcome, good: RunOutcome) -> str:
        return evidence.confirm_by_observation(violation, "cpu", (partial, bad), (partial, good)).verdict

    assert told(PASSED, missing) == "hypothetical"  # nobody knows what the folder holds
    assert told(missing, PASSED) == "refuted"
    assert [told(missing, missing), told(other, PASSED), told(PASSED, PASSED)] == ["inconclusive"] * 3


def test_a_run_is_asked_of_the_settings_that_a_rule_says_nobody_reads() -> None:
    left_over = subject({"dist.use_megatron_fsdp": False, "ddp.use_megatron_fsdp": False, "ddp.use_custom_fsdp": True})
    violation = next(each for each in left_over.violations if each.rule.code == "MFSDP750")
    assert evidence.watched(violation) == ("ddp.use_custom_fsdp", "ddp.use_megatron_fsdp")
