"""Mistakes that raise nothing, and show in what was seen of a run: a rule's `shows` speaks of it as of settings.

    seen.stage         "done", or the stage in which the run failed
    seen.wrapped_as    the class that wrapped the model
    seen.after.PATH    a setting, or a variable of the environment (env.NAME), when the run was over
    seen.read.PATH     whether Megatron's code asked for a setting
    seen.write.after   the assignment that a rule about writes speaks of: what was there when the run was over,
    seen.write.replaced   whether that is something else than what was written,
    seen.write.read    and whether Megatron's code asked for it

What else a rank has to tell (`seen.buffers`, …) is in the worker's observer. What was not seen is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mfsdp_lint.core.finding import Confirmation
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import Known, describe
from mfsdp_lint.dryrun.outcome import Outcome, PlainSettings
from mfsdp_lint.dryrun.supposed import confirmed
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.judging.configuration import variant_of
from mfsdp_lint.rules.model import Case
from mfsdp_lint.rules.writes import with_facts

_SEEN, _READ, _WRITE = "seen.", "seen.read.", "seen.write."


def watched(violation: Violation) -> tuple[str, ...]:
    """Return the settings for which a run has to report whether they were read."""
    asked = [path.removeprefix(_READ) for path in _asked(violation.case) if path.startswith(_READ)]
    if _WRITE + "read" in _asked(violation.case):
        asked.append(violation.primary.setting)
    return tuple(asked)


def confirm(
    violation: Violation, tier: str, bad: tuple[PlainSettings, Outcome], good: tuple[PlainSettings, Outcome]
) -> Confirmation:
    """Decide a finding that shows in observations, by two runs: with the mistake, and without."""
    told = "; ".join(_told(violation, *bad))
    if not bad[1].conclusive:
        return _inconclusive(tier, _failure(bad[1]))
    shown = _truth(violation, *bad)
    if shown is False and _is_decisive(violation, bad[1], good[1]):
        return Confirmation("refuted", tier, told)
    if shown is False:
        return _inconclusive(tier, f"it ends otherwise: {_failure(bad[1])}", told)
    if shown is None:
        return _inconclusive(tier, f"what would show it was not seen: {_failure(bad[1])}", told)
    without = _truth(violation, *good)
    if without:
        return _inconclusive(tier, "the run without the mistake shows it as well", told)
    if not good[1].conclusive or (without is None and not good[1].passed):
        return _inconclusive(tier, f"the control run is not right either: {_failure(good[1])}", told)
    control = "; ".join(_told(violation, *good))
    return confirmed(violation, tier, f"{told}; without the mistake {control}" if control else told)


def _is_decisive(violation: Violation, bad: Outcome, good: Outcome) -> bool:
    """Tell whether a run that does not show the rule's claim contradicts it: it passed, or failed for the mistake."""
    return bad.passed or (bad.stage == violation.case.stage and _failure(bad) != _failure(good))


def _asked(case: Case) -> tuple[str, ...]:
    shows = case.showing.shows
    return tuple(sorted(shows.paths())) if shows else ()


def _truth(violation: Violation, settings: PlainSettings, outcome: Outcome) -> bool | None:
    shows = violation.case.showing.shows
    return shows.truth(_observed(violation, settings, outcome)) if shows else None


def _told(violation: Violation, settings: PlainSettings, outcome: Outcome) -> Iterator[str]:
    seen = _observed(violation, settings, outcome)
    for path in _asked(violation.case):
        value = seen.value(path)
        if path.startswith(_SEEN) and isinstance(value, Known):
            yield f"{path} is {describe(value)}"


def _observed(violation: Violation, settings: PlainSettings, outcome: Outcome) -> Variant:
    """Return a run's settings and observations as a variant."""
    facts: dict[str, Any] = {"seen.stage": outcome.stage, "seen.wrapped_as": outcome.wrapped_as}
    if outcome.passed:
        facts |= {f"seen.after.{path}": value for path, value in _given(settings, outcome).items()}
        facts |= {f"{_SEEN}{name}": value for name, value in outcome.seen.items()}
    if violation.rule.judges == "writes":
        facts |= dict(_said_of_the_write(violation.seen))
        facts |= _of_the_write(violation.primary.setting, settings, facts)
    return with_facts(variant_of(settings), facts)


def _given(settings: PlainSettings, outcome: Outcome) -> dict[str, Any]:
    return {path: value for path, value in settings.items() if path not in outcome.not_given}


def _said_of_the_write(seen: Variant) -> Iterator[tuple[str, Any]]:
    for path in seen.settings:
        if path.startswith("write.") and isinstance(value := seen.value(path), Known):
            yield path, value.value


def _of_the_write(path: str, settings: PlainSettings, facts: dict[str, Any]) -> dict[str, Any]:
    found = {}
    if f"seen.after.{path}" in facts:
        after = facts[f"seen.after.{path}"]
        found = {_WRITE + "after": describe(Known(after)), _WRITE + "replaced": after != settings[path]}
    if _READ + path in facts:
        found[_WRITE + "read"] = facts[_READ + path]
    return found


def _inconclusive(tier: str, reason: str, seen: str = "") -> Confirmation:
    return Confirmation("inconclusive", tier, seen, reason)


def _failure(outcome: Outcome) -> str:
    return outcome.failure.message if outcome.failure else "it ran through"
