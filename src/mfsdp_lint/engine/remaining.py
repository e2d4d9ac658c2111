"""Findings that remain: with their fixes, and with the versions for which they hold.

Fixes are proved where the report shows them, else only marked as possible. Versions are told where the version at hand
is only assumed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

from mfsdp_lint.core.finding import HELD_BACK, Finding, Fix
from mfsdp_lint.core.front_ends import Component
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.read import Question
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target, numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.reports.summary import holds_for, in_order, named_versions
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import FindingGroup
from mfsdp_lint.rules.model import Rule, stronger

NO_FIX = "the rule has no fix for this: what is meant is for a person to say"
AFTER_OTHERS = "it is made once others have been"
ONE_LAUNCH = "it is judged under the overrides of one launch, and the file has others"
NOT_ASKED = "no proof was asked for: --show-fixes"
OVER_BUDGET = "possible fix, not proved here: --fix, or --show-fixes"
SILENCED = "a comment silences it"
"""Why findings have no fix."""

UNITS_A_RECIPE = 500
"""Work that proofs may take for each recipe where nobody asked for them (see `process.spend`).

Reading one of Megatron-Bridge's takes four times as much, and planning and comparing are not counted: a report costs
about twice as much with proofs as without.
"""

LEAST_UNITS = 100_000
"""Work that proofs may take at any rate: about two seconds."""


@dataclass(frozen=True, slots=True)
class TriedFixes:
    """Fixes that a run has tried already, by fingerprint: those that hold, and why others do not."""

    holds: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)


NOTHING_TRIED = TriedFixes()


def is_asked_for(cause: FindingGroup, judge: Linter, codes: Collection[str]) -> bool:
    """Tell whether a fix is looked for: the rule has one, the finding is not silenced, and rule and file are selected.

    A recipe in a selected file can be repaired where the text at fault lies in another one. Files outside the selection
    are looked at, too, once a fix may touch code that they use.
    """
    finding = cause.finding
    selected = finding.code in codes and finding.suppressed is None and not _decided_elsewhere(cause)
    places = (finding.span.path, *(violation.recipe.path for violation in cause.violations))
    return selected and cause.safety is not None and any(map(judge.is_linted, places))


def _decided_elsewhere(cause: FindingGroup) -> str:
    """Return the file of a user whose text decides the finding, which is to be fixed there; "" without one."""
    return next((each.decided_in for each in cause.violations if each.decided_in), "")


def possible(judgement: Judgement, judge: Linter, codes: Collection[str], tried: TriedFixes) -> list[Finding]:
    """Return the findings, marked as fixable where a fix is possible, without edits.

    A proof confirms these marks or removes some; it adds none. No mark that was `tried` needs a proof.
    """
    if not judgement.causes:
        return []
    from mfsdp_lint.fixes.editor import EDITORS

    def perhaps(cause: FindingGroup) -> Finding:
        finding = cause.finding
        edited = kind_of(finding.span.path) in EDITORS and finding.fingerprint not in tried.refused
        if edited and not judge.question.command_line.overrides and is_asked_for(cause, judge, codes):
            return _perhaps(cause, NOT_ASKED, fix_proved=finding.fingerprint in tried.holds)
        return replace(finding, no_fix=_why_not(cause, judge, tried.refused))

    return [perhaps(cause) for cause in judgement.causes]


def _perhaps(cause: FindingGroup, why: str, *, fix_proved: bool = False) -> Finding:
    """Mark a finding as perhaps fixable."""
    return replace(cause.finding, fixable=cause.safety, fix_proved=fix_proved, no_fix=why)


def affordable(judgement: Judgement) -> int:
    """Return the work that proofs may take where nobody asked for them: the same, whatever is cached."""
    return max(LEAST_UNITS, UNITS_A_RECIPE * len(judgement.recipes))


def proved(
    judgement: Judgement,
    judge: Linter,
    codes: Collection[str],
    tried: TriedFixes,
    *,
    unsafe_too: bool,
    units: int | None,
    faults: Faults,
) -> list[Finding]:
    """Return the findings, each with its fix where one was proved, else with the reason why there is none.

    Fixes that were `tried` without success are not tried again. `units` limits the work (None: no limit): fixes that
    are not proved by then are possible ones.
    """
    if not judgement.causes:
        return []
    if judge.question.command_line.overrides:
        return [replace(cause.finding, no_fix=_why_not(cause, judge, {})) for cause in judgement.causes]
    from mfsdp_lint.engine.repair import repair_of
    from mfsdp_lint.fixes.apply import grouped
    from mfsdp_lint.fixes.editor import EDITORS

    fixes: Mapping[str, Fix] = {}
    reasons, undecided = tried.refused, frozenset[str]()
    places = [cause.finding.span.path for cause in judgement.causes]
    with faults.contained(places[0]):
        repair = repair_of(judgement, judge, codes)
        fixes, reasons, undecided = faults.over_files(
            places, lambda paths: repair.only(paths).proved(unsafe_too=unsafe_too, refused=tried.refused, units=units)
        )
    fixes = grouped(fixes)

    def with_fix(cause: FindingGroup) -> Finding:
        finding = cause.finding
        fix = fixes.get(finding.fingerprint)
        if finding.fingerprint in undecided and kind_of(finding.span.path) in EDITORS:
            return _perhaps(cause, OVER_BUDGET)
        if fix is None:
            return replace(finding, no_fix=_why_not(cause, judge, reasons))
        if fix.edits:
            return replace(finding, fixable=fix.safety, fix=replace(fix, why=cause.why))
        return replace(finding, fixable=fix.safety, no_fix=AFTER_OTHERS)

    return [with_fix(cause) for cause in judgement.causes]


def _why_not(cause: FindingGroup, judge: Linter, reasons: Mapping[str, str]) -> str:
    if judge.question.command_line.overrides:
        # A file is not at fault for what one launch makes of it, and its other launches must not change.
        return ONE_LAUNCH
    if cause.finding.suppressed is not None:
        return SILENCED
    if there := _decided_elsewhere(cause):
        return f"the text that decides it is in {there}, which was not named"
    if reason := reasons.get(cause.finding.fingerprint):
        return f"{HELD_BACK}{reason.removeprefix(HELD_BACK)}"
    return cause.no_fix or NO_FIX


def where_it_holds(
    findings: Sequence[Finding],
    judgement: Judgement,
    judge: Linter,
    ask: Callable[[Linter, Sources], Judgement] = Linter.__call__,
) -> list[Finding]:
    """Return the findings; those that depend on the assumed version get the versions for which they hold.

    The files that are at fault are read and judged again for the newest release of every line, which costs nothing
    where nothing is found. A finding holds for a version if the same rule is broken there in one of its recipes.
    """
    causes = {
        cause.finding.fingerprint: cause
        for cause in judgement.causes
        if cause.finding.suppressed is None
        and all(violation.target.assumed for violation in cause.violations)
        and not judge.is_of_user(cause.finding.span.path)
    }
    if not causes:
        return list(findings)
    broken = [violation for cause in causes.values() for violation in cause.violations]
    rules = _that_matter(judge.rules, {violation.rule.code for violation in broken})
    seen: dict[_Key, set[str]] = defaultdict(set)
    for component in sorted(_components(broken)):
        theirs = [each for each in broken if each.recipe.front_end.released_with == component]
        files = {path for each in theirs for path in _files(each)}
        again = replace(judge, question=_question(judge, files, _targets(component, judge.target)), rules=rules)
        for violation in (each for cause in ask(again, judgement.sources).causes for each in cause.violations):
            if violation.recipe.front_end.released_with == component:
                seen[_key(violation)].add(holds_for(violation))
    result = []
    for finding in findings:
        cause = causes.get(finding.fingerprint)
        if cause is not None:
            here = {holds_for(violation) for violation in cause.violations}
            versions = in_order(here.union(*(seen[_key(violation)] for violation in cause.violations)))
            finding = replace(finding, versions=versions)
            if len(versions) < sum(len(_targets(each, judge.target)) for each in _components(cause.violations)):
                finding = replace(finding, message=f"{finding.message} (holds for {named_versions(versions)})")
        result.append(finding)
    return result


def _files(violation: Violation) -> set[str]:
    """Return the files that a recipe is written in, that its reader's notices point into, and that break a user."""
    recipe = violation.recipe
    noticed = (notice.span.path for notice in recipe.notices)
    breaking = (violation.primary.span.path,) if violation.decided_in else ()
    return {recipe.path, *(path for path, _, _ in recipe.pieces), *noticed, *breaking}


def _components(broken: Iterable[Violation]) -> set[Component]:
    """Return the components whose releases decide the behaviour of these recipes' front-ends."""
    return {violation.recipe.front_end.released_with for violation in broken}


def _targets(component: Component, assumed: Target) -> list[Target]:
    """Return the newest release of every line that a component has, the newest first."""
    if component == "core":
        every = [(each.core, replace(assumed, core=each.core, core_alone=True)) for each in CORE_RELEASES]
    else:
        every = [(each.bridge, replace(assumed, bridge=each.bridge, core=each.core)) for each in RELEASES]
    newest = {numbers(version)[:2]: target for version, target in every}  # the oldest come first
    return list(reversed(newest.values()))


def _question(judge: Linter, paths: set[str], targets: Sequence[Target]) -> Question:
    asked = judge.question
    return replace(
        asked.among(paths),
        target=targets[0],
        also=tuple(targets[1:]),
        named=tuple(file for file in asked.named if file.path in paths),
    )


def _that_matter(rules: Sequence[Rule], codes: Set[str]) -> tuple[Rule, ...]:
    """Return these rules, and those whose findings would make the findings of these superfluous."""
    above = stronger(rules)
    wanted = {*codes, *(stronger_code for code in codes for stronger_code in above[code])}
    return tuple(rule for rule in rules if rule.code in wanted)


_Key = tuple[str, str, int, str, str]
"""The part that findings in different versions have to share: the rule, and the recipe."""


def _key(violation: Violation) -> _Key:
    recipe = violation.recipe
    return violation.rule.code, recipe.path, recipe.line, recipe.label, recipe.front_end.name
