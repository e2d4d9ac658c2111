"""The introspect tier's part: every refusal of start-up validation, and what that says of each finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun import evidence
from mfsdp_lint.dryrun.control import TIER, confirmed, controls_of, inconclusive, pinned, with_a_checkpoint
from mfsdp_lint.dryrun.evidence import is_of
from mfsdp_lint.dryrun.outcome import Failure, PlainSettings, RunOutcome
from mfsdp_lint.rules.check import Violation

Ask = Callable[[PlainSettings], RunOutcome]
"""Asks validation about settings."""

Judge = Callable[[PlainSettings], Sequence[Violation]]
"""Returns the violations of settings."""

_MOST_REFUSALS = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """Error of validation, the finding that foresaw it, and the settings that were refused."""

    failure: Failure
    violation: Violation | None
    settings: PlainSettings


@dataclass(frozen=True, slots=True)
class Validation:
    """All refusals, one after the other with each mistake taken out, and the settings at the end.

    `last` is the outcome with these.
    """

    refusals: tuple[Refusal, ...]
    settings: PlainSettings
    last: RunOutcome


def validate(settings: PlainSettings, violations: Sequence[Violation], ask: Ask, judge: Judge) -> Validation:
    """Remove mistake after mistake until validation passes, or refuses something that no rule knows."""
    outcome = ask(settings)
    refusals: list[Refusal] = []
    while outcome.failure is not None and outcome.conclusive and len(refusals) < _MOST_REFUSALS:
        failure = outcome.failure
        # The classes' defaults may be what is wrong, of which the settings say nothing.
        known = [*violations, *judge({**outcome.config, **settings})]
        foreseen = [violation for violation in known if is_of(violation, failure)]
        # The first of these findings that can be removed.
        tries = ((violation, _without(violation, failure, settings, violations, ask)) for violation in foreseen)
        violation, without = next(((each, found) for each, found in tries if found), (next(iter(foreseen), None), None))
        refusals.append(Refusal(failure, violation, settings))
        if without is None:
            break
        settings, outcome = without
    return Validation(tuple(refusals), settings, outcome)


def _without(
    violation: Violation, failure: Failure, settings: PlainSettings, others: Sequence[Violation], ask: Ask
) -> tuple[PlainSettings, RunOutcome] | None:
    """Return the settings without a mistake, and validation's new outcome; the other mistakes stay in, if possible."""
    mistakes = {path for other in others if other.rule is not violation.rule for path in other.witnesses}
    controls = sorted(controls_of(violation), key=lambda control: len(control.paths & mistakes))
    for control in controls:
        changed = control.applied(settings)
        if changed != settings:
            outcome = ask(changed)
            if outcome.failure is None or outcome.failure.message != failure.message:
                return changed, outcome
    return None


def confirm(violation: Violation, came_to: Validation, ask: Ask) -> Confirmation:
    """Decide one finding by start-up validation."""
    case = violation.case
    if case.showing.shows is not None:
        return _by_what_is_seen(violation, came_to, ask)
    if case.error is None:
        return inconclusive("this version says nothing that could be seen here")
    refusal = next((each for each in came_to.refusals if is_of(violation, each.failure)), None)
    if refusal is not None and came_to.last.passed:
        return Confirmation("confirmed", TIER, refusal.failure.message)
    if refusal is not None:
        return inconclusive(f"the control run failed too: {came_to.last.told}", refusal.failure.message)
    if not came_to.last.passed:
        return inconclusive(f"something else stops it before: {came_to.last.told}")
    # Another fix has removed it on the way, or it waits for a save.
    settings = with_a_checkpoint(violation, pinned(violation, came_to.settings))
    outcome = ask(settings)
    if not outcome.conclusive:
        return inconclusive(outcome.told)
    if not_given := sorted(outcome.not_given & set(violation.witnesses)):
        return inconclusive(f"{not_given[0]} cannot be given to this version")
    if outcome.failure is None:
        return Confirmation("refuted", TIER, "start-up validation let it pass")
    if not is_of(violation, outcome.failure):
        return inconclusive(f"it ends otherwise: {outcome.failure.message}")
    without = _without(violation, outcome.failure, settings, (), ask)
    if without is None or not without[1].passed:
        return inconclusive(f"the control run failed too: {(without[1] if without else outcome).told}", outcome.told)
    return confirmed(violation, TIER, outcome.failure.message)


def _by_what_is_seen(violation: Violation, before: Validation, ask: Ask) -> Confirmation:
    """Decide a finding that raises nothing: by validation with the mistake, and without."""
    if not before.last.passed:
        return inconclusive(f"something else stops it before: {before.last.told}")
    bad = pinned(violation, before.settings)
    good = next((control.applied(bad) for control in controls_of(violation)), bad)
    if good == bad:
        return inconclusive("nothing is known that would take the mistake out")
    return evidence.confirm_by_observation(violation, TIER, (bad, ask(bad)), (good, ask(good)))
