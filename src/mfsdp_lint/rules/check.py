"""Judge recipes by rules: which rule is broken, in which recipe, and which written setting is to blame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mfsdp_lint.finding import Safety
from mfsdp_lint.recipe import Origin, Recipe, Span, Variant
from mfsdp_lint.rules.conditions import Condition
from mfsdp_lint.rules.model import Case, Rule
from mfsdp_lint.upstream.target import Target
from mfsdp_lint.values import Known, Plain, same

Theirs = Callable[[str], bool]
"""Whether a path is one of the files that the user asked to lint."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What has to be changed in a variant to remove a violation; settings that are as they should be are left out."""

    set: Mapping[str, Plain]
    unset: tuple[str, ...]
    safety: Safety


@dataclass(frozen=True, slots=True)
class Primary:
    """What a violation points at: a setting and the place that wrote it, or the recipe itself (setting "")."""

    setting: str
    span: Span
    function: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that one variant of one recipe breaks, at one target.

    `rule` and `case` are as they read at that target. `witnesses` are the settings that made the rule fire.
    """

    rule: Rule
    case: Case
    recipe: Recipe
    variant: Variant
    witnesses: tuple[str, ...]
    primary: Primary
    remedy: Remedy | None
    target: Target


@dataclass(frozen=True, slots=True)
class _Hit:
    """A rule that fires, before it is known what to point at."""

    rule: Rule
    case: Case
    recipe: Recipe
    variant: Variant
    witnesses: tuple[str, ...]


def violations(recipes: Sequence[Recipe], target: Target, rules: Sequence[Rule], theirs: Theirs) -> list[Violation]:
    """Everything that the recipes break, one entry for each variant and rule, in the order of the recipes.

    Of rules that say the same of a variant only the strongest is kept.
    """
    active = [rule.at(target.bridge) for rule in rules if target.bridge in rule.versions]
    hits = [hit for recipe in recipes for variant in recipe.variants for hit in _hits(recipe, variant, active)]
    writes = _Writes(recipes, hits)
    fired = {(id(hit.variant), hit.rule.code) for hit in hits}
    return [
        Violation(
            rule=hit.rule,
            case=hit.case,
            recipe=hit.recipe,
            variant=hit.variant,
            witnesses=hit.witnesses,
            primary=_primary(hit, writes, theirs),
            remedy=_remedy(hit, target),
            target=target,
        )
        for hit in hits
        if not any((id(hit.variant), code) in fired for code in hit.rule.weaker_than)
    ]


def _hits(recipe: Recipe, variant: Variant, rules: Sequence[Rule]) -> Iterator[_Hit]:
    for rule in rules:
        if not rule.applies.truth(variant):
            continue
        for case in rule.cases:
            if case.when is None or case.when.truth(variant):
                decisive = (*rule.applies.deciding(variant), *(case.when.deciding(variant) if case.when else ()))
                yield _Hit(rule, case, recipe, variant, tuple(dict.fromkeys(decisive)))
                break


class _Writes:
    """Which variants take a setting from the same written place, and whether a rule fires in all of them."""

    def __init__(self, recipes: Sequence[Recipe], hits: Sequence[_Hit]) -> None:
        blamed = {path for hit in hits for setting in hit.rule.blame.value for path in setting.deciding(hit.variant)}
        self._readers: dict[tuple[str, Span], set[int]] = defaultdict(set)
        for recipe in recipes:
            for variant in recipe.variants:
                for path in blamed:
                    if origin := variant.origin(path):
                        self._readers[path, origin.span].add(id(variant))
        self._broken: dict[str, set[int]] = defaultdict(set)
        for hit in hits:
            self._broken[hit.rule.code].add(id(hit.variant))

    def only_broken(self, code: str, path: str, span: Span) -> bool:
        """Whether everyone who takes `path` from there breaks the rule, so that changing it there harms nobody."""
        return self._readers[path, span] <= self._broken[code]


def _primary(hit: _Hit, writes: _Writes, theirs: Theirs) -> Primary:
    """The written line of the user's whose change removes the problem.

    In this order: the write of the bad value, unless somebody who is fine shares it; the first of the writes that
    turned on what the value is bad for; the constructor call that left the bad value at its default; the recipe.
    """
    bad = [
        (path, origin)
        for path, origin in _blamed(hit, hit.rule.blame.value, theirs)
        if writes.only_broken(hit.rule.code, path, origin.span)
    ]
    enabling = [found for found in _blamed(hit, hit.rule.blame.enabled_by, theirs) if found[1].how != "default"]
    enabling.sort(key=lambda found: found[1].order)
    written = [found for found in bad if found[1].how != "default"]
    for path, origin in (*written, *enabling, *bad):
        return Primary(path, origin.point, origin.function)
    recipe = hit.recipe
    return Primary("", Span(recipe.path, recipe.line, 1, recipe.line, 1), recipe.name)


def _blamed(hit: _Hit, settings: Sequence[Condition], theirs: Theirs) -> list[tuple[str, Origin]]:
    """The settings among these that made the rule fire, as far as the user's own files wrote them."""
    found = []
    for path in (path for setting in settings for path in setting.deciding(hit.variant)):
        origin = hit.variant.origin(path)
        if path in hit.witnesses and origin and not origin.upstream and theirs(origin.span.path):
            found.append((path, origin))
    return found


def _remedy(hit: _Hit, target: Target) -> Remedy | None:
    fix = hit.rule.fix
    if fix is None:
        return None
    safe = fix.safe.at(target.bridge)
    return Remedy(
        set={path: value for path, value in fix.set.items() if not _is(hit.variant, path, value)},
        unset=tuple(path for path in fix.unset if not _is(hit.variant, path, None)),
        safety="safe" if safe and safe.at(target.bridge).truth(hit.variant) else "unsafe",
    )


def _is(variant: Variant, path: str, wanted: Plain) -> bool:
    value = variant.value(path)
    return isinstance(value, Known) and same(value.value, wanted)
