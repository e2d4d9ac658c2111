"""Start-up validation's refusals, one after the other, and what they say of the findings."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.dryrun.introspection import Validation, confirm, validate
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome
from tests.dryrun.samples import FSDP, JUDGE, PASSED, WRONG_FORMAT, failed, only_fsdp_dtensor, refuses, subject

SAVES = {**FSDP, "checkpoint.save": "/results"}
WRONG = {**SAVES, "checkpoint.ckpt_format": "torch_dist"}


def validated(
    settings: PlainSettings, ask: Callable[[PlainSettings], RunOutcome]
) -> tuple[Validation, dict[str, Confirmation]]:
    """What validation came to, and the verdict on every finding by its code."""
    asked = subject(settings)
    seen = validate(settings, asked.violations, ask, JUDGE)
    found = {
        violation.rule.code: confirm(violation, seen, ask)
        for violation in asked.violations
        if violation.rule.confirm == "introspect"
    }
    return seen, found


def test_a_finding_is_confirmed_by_its_error_and_by_the_control_run_that_passes() -> None:
    seen, found = validated(WRONG, refuses(only_fsdp_dtensor))
    assert found["MFSDP101"] == Confirmation("confirmed", "introspect", WRONG_FORMAT)
    assert seen.last.passed
    assert seen.settings["checkpoint.ckpt_format"] == "fsdp_dtensor"


def test_every_refusal_is_found_and_not_only_the_first() -> None:
    def check(settings: PlainSettings) -> str:
        if settings.get("dist.use_tp_pp_dp_mapping"):
            return "AssertionError: use_tp_pp_dp_mapping is not supported with Megatron FSDP"
        return only_fsdp_dtensor(settings)

    seen, found = validated({**WRONG, "dist.use_tp_pp_dp_mapping": True}, refuses(check))
    assert [refusal.violation and refusal.violation.rule.code for refusal in seen.refusals] == ["MFSDP302", "MFSDP101"]
    assert {code: each.verdict for code, each in found.items()} == {"MFSDP101": "confirmed", "MFSDP302": "confirmed"}


def test_a_finding_is_refuted_by_a_run_that_passes() -> None:
    _, found = validated(WRONG, refuses(lambda _: ""))
    assert found["MFSDP101"].verdict == "refuted"


def test_a_control_run_that_fails_too_confirms_nothing() -> None:
    _, found = validated(WRONG, refuses(lambda _: WRONG_FORMAT))
    assert found["MFSDP101"].verdict == "inconclusive"
    assert found["MFSDP101"].reason.startswith("start-up refuses it without the mistake too")
    assert found["MFSDP101"].seen == WRONG_FORMAT


def test_another_error_confirms_nothing_and_is_told_as_unforeseen() -> None:
    seen, found = validated(WRONG, refuses(lambda _: "ValueError: the moon is full"))
    assert found["MFSDP101"].reason == "start-up refuses something else before: ValueError: the moon is full"
    assert [refusal.violation for refusal in seen.refusals] == [None]


def test_what_a_missing_package_causes_is_inconclusive() -> None:
    missing = failed("startup", "ModuleNotFoundError: No module named 'transformer_engine'")
    seen, found = validated(WRONG, lambda _: missing)
    assert found["MFSDP101"].verdict == "inconclusive"
    assert seen.refusals == ()


def test_what_waits_for_a_save_is_tried_with_one_and_told_as_what_it_is() -> None:
    """Without a save the same settings pass, which is why the rule only warns."""
    waits = {**FSDP, "checkpoint.ckpt_format": "torch_dist", "checkpoint.save": None, "checkpoint.load": None}
    seen, found = validated(waits, refuses(only_fsdp_dtensor))
    assert seen.refusals == ()
    assert found["MFSDP101"] == Confirmation(
        "hypothetical", "introspect", WRONG_FORMAT, "would be confirmed if it saved"
    )


def test_a_setting_that_the_classes_do_not_have_decides_nothing() -> None:
    passed = RunOutcome(PASSED.stage, no_field=("checkpoint.ckpt_format",))
    _, found = validated(WRONG, lambda _: passed)
    assert found["MFSDP101"].reason == "this version has no checkpoint.ckpt_format, or not with this value"
