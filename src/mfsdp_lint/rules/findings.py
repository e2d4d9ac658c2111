"""From violations to findings: one finding for one cause, however many recipes share it."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from mfsdp_lint.core.finding import SEVERITIES, AffectedRecipe, Finding, IsLinted, Note, Safety, fingerprint
from mfsdp_lint.core.recipe import Origin, Recipe, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, OneOf, Value, describe
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.model import Rule

_MOST_PATHS_NAMED = 3


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """A finding and the violations that it stands for, the most severe first."""

    finding: Finding
    violations: tuple[Violation, ...]

    @property
    def whole(self) -> Sequence[Violation]:
        """The violations that count: a file of overrides is only a piece of what the program that reads it tells."""
        return [each for each in self.violations if each.recipe.kind != "overrides"] or self.violations

    @property
    def safety(self) -> Safety | None:
        """Safety of the fix in every variant that it is for; None if the rule has no fix."""
        found = [violation.remedy.safety for violation in self.whole if violation.remedy]
        return None if not found else "unsafe" if "unsafe" in found else "safe"

    @property
    def why(self) -> str:
        """Reason why the fix is safe, or not."""
        remedies = (violation.remedy for violation in self.violations if violation.remedy)
        return next((remedy.why for remedy in remedies if remedy.safety == self.safety), "")

    @property
    def no_fix(self) -> str:
        """Reason why there is no fix, of a rule without any in the rule's words; empty if there is one."""
        followed = next((each.follows for each in self.whole if each.follows), None)
        if followed is not None and self.safety is None:
            return f"what is meant in {followed.span.path}:{followed.span.line} decides it"
        fixes = (each.rule.fix_for(each.variant, each.seen) for each in self.violations)
        return next((fix.none for fix in fixes if fix and fix.none), "")


def check(
    recipes: Sequence[Recipe],
    target: Target,
    rules: Sequence[Rule],
    is_linted: IsLinted,
    sources: Sources | None = None,
) -> list[Finding]:
    """Judge the recipes at a target; return the findings by place and code. See `causes` where fixes are planned."""
    return [cause.finding for cause in causes(violations(recipes, target, rules, is_linted, sources=sources))]


def causes(found: Iterable[Violation]) -> list[FindingGroup]:
    """Group violations of one rule that point at one place; ordered by place and code."""
    groups: dict[tuple[str, Span], list[Violation]] = defaultdict(list)
    for violation in found:
        groups[violation.rule.code, violation.primary.span].append(violation)
    by_default = {_mistake(each) for group in groups.values() for each in group if not each.variant.exposed}
    ties: Counter[tuple[str, ...]] = Counter()
    result = []
    for _, group in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0])):
        group.sort(
            key=lambda each: (SEVERITIES.index(each.severity), each.recipe.path, each.recipe.line, each.recipe.name)
        )
        if all(each.variant.exposed and _mistake(each) in by_default for each in group):
            continue  # the recipe has the same mistake, at another place, if nobody turns on anything
        primary = group[0].primary
        key = group[0].rule.code, posixpath.normpath(primary.span.path), primary.setting, primary.function
        ties[key] += 1
        # It changes with the rule, the file, the setting and the function, not with lines or recipes.
        code, _, *cause = (*key, str(ties[key]))
        marks = fingerprint(*key, str(ties[key])), fingerprint(code, *cause)
        result.append(FindingGroup(_finding(group, *marks), tuple(group)))
    return sorted(result, key=lambda cause: cause.finding.order)


def _mistake(violation: Violation) -> tuple[str, int, str, str, str]:
    """Return what a violation tells a reader, wherever it stands."""
    recipe, case = violation.recipe, violation.case
    return recipe.path, recipe.line, recipe.qualified_name, violation.rule.code, case.message.of(violation.seen)


def _finding(group: Sequence[Violation], mark: str, content_mark: str) -> Finding:
    first = group[0]
    rule, case = first.rule, first.case
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=first.severity,
        stage=case.stage,
        message=_message(group),
        span=first.primary.span,
        handed_on=first.primary.handed_on,
        consequence=case.consequence.of(first.seen),
        raises=case.error.of(first.seen) if case.error else None,
        enforced_by=case.enforcer,
        recipes=tuple(
            AffectedRecipe(broken[0].recipe.label, min((each.severity for each in broken), key=SEVERITIES.index))
            for broken in _by_recipe(group)
        ),
        related=_notes(first),
        fingerprint=mark,
        content_fingerprint=content_mark,
    )


def _message(group: Sequence[Violation]) -> str:
    first = group[0]
    parts = [first.case.message.of(first.seen)]
    # Another version takes the same paths once more.
    here = [violation for violation in group if violation.target == first.target]
    conditions = {_condition(recipe) for recipe in _by_recipe(here)}
    if all(violation.variant.exposed for violation in group):
        parts.append(f" ({_exposed(group)})")
    elif len(conditions) == 1 and (condition := conditions.pop()):
        parts.append(f" when {condition}")
    if all(violation.completed_by for violation in group):
        parts.append(f"; it is fine as {first.completed_by} uses it")
    fix = first.rule.fix_for(first.variant, first.seen)
    if fix and fix.else_advice and first.remedy and first.remedy.safety == "unsafe":
        parts.append(f"; {fix.else_advice}")
    return "".join(parts)


def _exposed(group: Sequence[Violation]) -> str:
    """Describe how callers of a recipe, or the command that starts it, turn on the failing feature."""
    by_variable = {each.variant.when[0]: each.variant.by_variable for each in group}
    called = sorted(said for said, is_variable in by_variable.items() if not is_variable)
    given = sorted(said for said, is_variable in by_variable.items() if is_variable)
    parts = [f"{how} {' or '.join(said)}" for how, said in (("when called with", called), ("with", given)) if said]
    return " or ".join(parts)


def _by_recipe(group: Iterable[Violation]) -> list[list[Violation]]:
    recipes: dict[tuple[str, int, str, str], list[Violation]] = defaultdict(list)
    for violation in group:
        recipe = violation.recipe
        recipes[recipe.path, recipe.line, recipe.qualified_name, recipe.label].append(violation)
    return [recipes[key] for key in sorted(recipes)]


def _condition(broken: Sequence[Violation]) -> str:
    """Describe the execution paths on which a recipe is broken; "" if it is broken on all of them."""
    variants = broken[0].recipe.variants
    every = {id(variant) for variant in variants}
    # What its callers may turn on are no ways of its own.
    broken = [violation for violation in broken if id(violation.variant) in every] or broken
    bad = {id(violation.variant) for violation in broken}
    if bad >= every:
        return ""
    paths = [violation.variant.when for violation in broken]
    always = [clause for clause in paths[0] if all(clause in path for path in paths)]
    if always:
        return " and ".join(always)
    if len(paths) <= _MOST_PATHS_NAMED and all(paths):
        return " or ".join(" and ".join(path) for path in paths)
    some = "one" if len(bad) == 1 else f"one of {len(bad)}"
    return f"it takes {some} of the {len(variants)} ways through its code"


def _notes(violation: Violation) -> tuple[Note, ...]:
    """Make one note for every setting involved but the primary one, with the place where it was set."""
    blamed = {path for setting in violation.rule.blame.value for path in setting.deciding(violation.seen)}
    primary, notes = violation.primary, []
    if primary.handed_on is not None:
        notes.append(Note(primary.handed_on, f"{primary.setting} is set to that here"))
    for path in violation.witnesses:
        origin = violation.seen.origin(path)
        # A default that is merely a condition of the problem is nobody's doing and says nothing.
        if path == primary.setting or origin is None or (origin.how == "default" and path not in blamed):
            continue
        notes.append(Note(origin.point, _told(path, violation.seen.value(path), origin)))
    return tuple(notes)


def _told(path: str, value: Value, origin: Origin) -> str:
    what = f"{path} is {describe(value)}" if isinstance(value, Known | OneOf) else f"{path} is set"
    if origin.how == "startup":
        return f"start-up makes {path} {describe(value)}"
    if origin.upstream:
        by_default = " by default" if origin.how == "default" else ""
        return f"{what}{by_default} in {origin.upstream}"
    return f"{what} here, by default" if origin.how == "default" else f"{what} here"
