"""The versions that a finding holds for, where the version at hand is only assumed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.front_ends import Component
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine.judge import Judge, Judgement
from mfsdp_lint.engine.read import Question
from mfsdp_lint.megatron.versions.ranges import numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.summary import holds_for, in_order, named_versions
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.model import Rule, stronger


def where_it_holds(findings: Sequence[Finding], judgement: Judgement, judge: Judge) -> list[Finding]:
    """Return the findings; those that depend on the assumed version get the versions for which they hold.

    The files that are at fault are read and judged again for the newest release of every line, which costs nothing
    where nothing is found. A finding holds for a version if the same rule is broken there in one of its recipes.
    """
    causes = {cause.finding.fingerprint: cause for cause in judgement.causes if cause.finding.suppressed is None}
    if not judge.target.assumed or not causes:
        return list(findings)
    broken = [violation for cause in causes.values() for violation in cause.violations]
    everywhere = [target for component in sorted(_components(broken)) for target in _targets(component, judge.target)]
    again = replace(
        judge,
        question=_question(judge, {path for each in broken for path in _files(each.recipe)}, everywhere),
        rules=_that_matter(judge.rules, {violation.rule.code for violation in broken}),
    )
    seen: dict[_Key, set[str]] = defaultdict(set)
    for violation in (each for cause in again(judgement.sources).causes for each in cause.violations):
        if violation.target.core_alone == (violation.recipe.front_end.released_with == "core"):
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


def _files(recipe: Recipe) -> set[str]:
    """Return the files that a recipe is written in, and the files that its reader's notices point into."""
    noticed = (notice.span.path for notice in recipe.notices)
    return {recipe.path, *(path for path, _, _ in recipe.pieces), *noticed}


def _components(broken: Iterable[Violation]) -> set[Component]:
    """Return the components whose releases decide the behaviour of these recipes' front-ends."""
    return {violation.recipe.front_end.released_with for violation in broken}


def _targets(component: Component, assumed: Target) -> list[Target]:
    """Return the newest release of every line that a component has, the newest first."""
    newest = {numbers(version)[:2]: target for version, target in _EVERY_RELEASE[component](assumed)}
    return list(reversed(newest.values()))


def _of_bridge(assumed: Target) -> list[tuple[str, Target]]:
    return [(each.bridge, replace(assumed, bridge=each.bridge, core=each.core)) for each in RELEASES]


def _of_core(assumed: Target) -> list[tuple[str, Target]]:
    return [(each.core, replace(assumed, core=each.core, core_alone=True)) for each in CORE_RELEASES]


_EVERY_RELEASE: Mapping[Component, Callable[[Target], list[tuple[str, Target]]]] = {
    "bridge": _of_bridge,
    "core": _of_core,
}
"""The releases of a component, the oldest first, each with the target that it makes of the assumed one."""


def _question(judge: Judge, paths: set[str], targets: Sequence[Target]) -> Question:
    asked = judge.question
    return replace(
        asked,
        target=targets[0],
        also=tuple(targets[1:]),
        files=tuple(file for file in asked.files if file.path in paths),
        named=tuple(file for file in asked.named if file.path in paths),
        addresses=tuple(address for address in asked.addresses if address.path in paths),
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
