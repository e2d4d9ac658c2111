"""The verdict on a recipe, from what was seen of it."""

from __future__ import annotations

from dataclasses import replace

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.dryrun.introspection import Refusal, Validation
from mfsdp_lint.dryrun.outcome import Failure, RunOutcome
from mfsdp_lint.dryrun.run import Told
from mfsdp_lint.dryrun.trials import Result
from tests.dryrun.samples import FSDP, PASSED, failed, subject, trained

ASKED = subject({**FSDP, "ddp.data_parallel_sharding_strategy": "zero3"})
FOUND = next(violation for violation in ASKED.violations if violation.rule.code == "MFSDP351")
VALID = Validation((), {}, PASSED)
INVALID = "ValueError: Invalid data_parallel_sharding_strategy: zero3"


FINE = Told(subject(FSDP), VALID, (), None, Result(trained(), (), ""))


def told(verdict: str = "", result: Result | None = None) -> Told:
    findings = ((FOUND, Confirmation(verdict, "cpu", "seen", "why")),) if verdict else ()  # type: ignore[arg-type]
    return Told(ASKED, VALID, findings, None, result)


def test_what_runs_through_passed() -> None:
    assert FINE.word == "passed"


def test_a_confirmed_finding_is_the_verdict() -> None:
    assert told("confirmed", Result(failed("wrap", INVALID), (), "")).word == "confirmed"


def test_a_refuted_finding_too() -> None:
    assert told("refuted", Result(trained(), (), "")).word == "refuted"


def test_what_no_rule_foresaw_failed() -> None:
    result = Result(failed("wrap", "ValueError: the moon is full"), (), "")
    assert (told(result=result).word, told(result=result).unforeseen) == ("failed", "ValueError: the moon is full")


def test_what_a_finding_speaks_of_was_foreseen_even_where_its_control_run_was_inconclusive() -> None:
    assert told("inconclusive", Result(failed("wrap", INVALID), (), "")).word == "inconclusive"


def test_symptoms_that_no_rule_foresaw_failed() -> None:
    assert told(result=Result(trained(), ("nothing is sharded",), "")).unforeseen == "nothing is sharded"


def test_a_machine_that_cannot_run_it_decides_nothing() -> None:
    assert told(result=Result(failed("import", "ImportError: no torch"), (), "")).word == "inconclusive"
    assert replace(told(), validation=None, why="no answer").word == "inconclusive"


def test_a_refusal_that_no_rule_foresaw_failed() -> None:
    failure = Failure("ValueError", "the moon is full")
    seen = Validation((Refusal(failure, None, {}),), {}, RunOutcome("startup", failure))
    assert Told(ASKED, seen, ()).word == "failed"


def test_an_error_that_the_tier_does_not_try_leaves_it_open_whether_the_recipe_runs() -> None:
    seen = told(result=Result(trained(), (), ""))
    assert FOUND.severity == "error"
    assert [violation.rule.code for violation in replace(seen, findings=()).untried] == ["MFSDP351"]
    assert replace(seen, findings=()).word == "inconclusive"
    assert replace(seen, findings=(), fixed=True).word == "passed"  # it was taken out


def test_nothing_passes_by_a_control_that_failed() -> None:
    broken = Result(trained(), (), "the run with plain DDP failed: ValueError: x")
    assert replace(FINE, result=broken).word == "inconclusive"


def test_what_a_warning_supposes_is_no_verdict_on_the_recipe() -> None:
    supposed = Confirmation("hypothetical", "introspect", "seen", "would be confirmed if it saved")
    assert replace(FINE, findings=((FOUND, supposed),)).word == "passed"


def test_a_warning_that_could_not_be_decided_leaves_a_recipe_passed_which_an_error_does_not() -> None:
    undecided = Confirmation("inconclusive", "cpu", "", "the small model does without what the mistake is about")
    warning = replace(FOUND, case=replace(FOUND.case, severity="warning"))
    seen = [replace(FINE, findings=((finding, undecided),)).word for finding in (warning, FOUND)]
    assert seen == ["passed", "inconclusive"]
