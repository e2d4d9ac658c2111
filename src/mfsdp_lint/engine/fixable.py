"""Fixes of findings: proved where the report shows them, else only marked as possible."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mfsdp_lint.core.finding import Finding, Fix
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.engine.judge import Judge, Judgement
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.rules.findings import Cause

NO_FIX = "the rule has no fix for this: what is meant is for a person to say"
AFTER_OTHERS = "it is made once others have been"
ONE_LAUNCH = "it is judged under the overrides of one launch, and the file has others"
NOT_ASKED = "no proof was asked for: --show-fixes"
SILENCED = "a comment silences it"
"""Why findings have no fix."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Fixes that a run has tried already, by fingerprint: those that hold, and why others do not."""

    holds: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)


NOTHING_TRIED = Tried()


def is_asked_for(cause: Cause, judge: Judge, codes: Collection[str]) -> bool:
    """Tell whether a fix is looked for: the rule has one, the finding is not silenced, and rule and file are selected.

    Files outside the selection are looked at, too, once a fix may touch code that they use.
    """
    finding = cause.finding
    selected = finding.code in codes and finding.suppressed is None
    return selected and cause.safety is not None and judge.is_linted(finding.span.path)


def possible(judgement: Judgement, judge: Judge, codes: Collection[str], tried: Tried) -> list[Finding]:
    """Return the findings, marked as fixable where a fix is possible, without edits.

    A proof confirms these marks or removes some; it adds none. No mark that was `tried` needs a proof.
    """
    if not judgement.causes:
        return []
    from mfsdp_lint.fixes.editors import EDITORS

    def perhaps(cause: Cause) -> Finding:
        finding = cause.finding
        edited = kind_of(finding.span.path) in EDITORS and finding.fingerprint not in tried.refused
        if edited and not judge.question.command_line.overrides and is_asked_for(cause, judge, codes):
            return replace(
                finding,
                fixable=cause.safety,
                fix_proved=finding.fingerprint in tried.holds,
                no_fix=NOT_ASKED,
            )
        return replace(finding, no_fix=_why_not(cause, judge, tried.refused))

    return [perhaps(cause) for cause in judgement.causes]


def proved(
    judgement: Judgement,
    judge: Judge,
    codes: Collection[str],
    tried: Tried,
    *,
    unsafe_too: bool,
    faults: Faults,
) -> list[Finding]:
    """Return the findings, each with its fix where one was proved, else with the reason why there is none.

    Fixes that were `tried` without success are not tried again.
    """
    if not judgement.causes:
        return []
    if judge.question.command_line.overrides:
        return [replace(cause.finding, no_fix=_why_not(cause, judge, {})) for cause in judgement.causes]
    from mfsdp_lint.engine.repair import repair_of
    from mfsdp_lint.fixes.groups import grouped

    fixes: Mapping[str, Fix] = {}
    reasons = tried.refused
    places = [cause.finding.span.path for cause in judgement.causes]
    with faults.contained(places[0]):
        repair = repair_of(judgement, judge, codes)
        fixes, reasons = faults.over_files(
            places, lambda paths: repair.only(paths).proved(unsafe_too=unsafe_too, refused=tried.refused)
        )
    fixes = grouped(fixes)

    def with_fix(cause: Cause) -> Finding:
        finding = cause.finding
        fix = fixes.get(finding.fingerprint)
        if fix is None:
            return replace(finding, no_fix=_why_not(cause, judge, reasons))
        if fix.edits:
            return replace(finding, fixable=fix.safety, fix=replace(fix, why=cause.why))
        return replace(finding, fixable=fix.safety, no_fix=AFTER_OTHERS)

    return [with_fix(cause) for cause in judgement.causes]


def _why_not(cause: Cause, judge: Judge, reasons: Mapping[str, str]) -> str:
    if judge.question.command_line.overrides:
        # A file is not at fault for what one launch makes of it, and its other launches must not change.
        return ONE_LAUNCH
    if cause.finding.suppressed is not None:
        return SILENCED
    return reasons.get(cause.finding.fingerprint) or cause.no_fix or NO_FIX
