"""Pins: the values of the old release, written where a recipe of the new one has others, and proved.

The edits are planned and proved as fixes are: the recipe is read again under the new release, every pinned setting has
its old value, and no other setting changes, in no recipe that uses the text.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import CWD, NONE, Known, Plain, is_known_as
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.fixes.apply import Fixed, fix_project
from mfsdp_lint.fixes.judged import Broken, FixRequest, Judged, Need, in_other_calls
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.mentions import Mentions
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.upgrade.changes import Difference

PIN = "the old release's value"

_PLACES = 2

_WRITABLE = (str, int, float, bool, list)


def why_not(difference: Difference) -> str | None:
    """Say why a setting is not pinned; None where it may be."""
    old, recipe = difference.old, difference.recipe
    if recipe.partial or recipe.kind not in ("function", "script", "module"):
        return "it is pinned in the recipe that makes it"
    if difference.cause == "start-up":
        return "start-up decides it"
    if not isinstance(old, Known) or not (old.value is None or isinstance(old.value, _WRITABLE)):
        return "its old value cannot be written"
    if isinstance(old.value, str) and (CWD in old.value or old.value.startswith(("torch.", "megatron."))):
        return "its old value cannot be written as a text"
    before = difference.before
    if difference.cause == "files" and before is not None and before.upstream is None and before.sources:
        return "its old value follows from another text of yours"
    if difference.path.startswith("env.") or difference.path.rpartition(".")[2].startswith("_"):
        return "it is no setting of a configuration"
    return None


def every_recipe(differences: Sequence[Difference], sources: Sources) -> set[str]:
    """Return all recipes with differences, by their keys."""
    return {key_of(each.recipe) for each in differences}


def built_on(differences: Sequence[Difference], sources: Sources) -> set[str]:
    """Return the recipes that other ones are built on, by their keys; none where no recipe is built on another."""
    named = {key_of(each.recipe): each.recipe for each in differences if each.recipe.kind == "function"}
    names = {recipe.name for recipe in named.values()}
    uses = {key: names & _names_in(recipe, sources) - {recipe.name} for key, recipe in named.items()}
    used = set().union(*uses.values()) if uses else set()
    return {key for key, recipe in named.items() if recipe.name in used and not uses[key]}


def _names_in(recipe: Recipe, sources: Sources) -> set[str]:
    """Return the names that the function of a recipe reads."""
    tree = parsed(sources.text_or_none(recipe.path) or "")
    body = () if tree is None else tree.body
    inside = (node for node in body if node.lineno <= recipe.line <= (node.end_lineno or node.lineno))
    return {each.id for node in inside for each in ast.walk(node) if isinstance(each, ast.Name)}


def settings_in(fixed: Fixed) -> Iterator[str]:
    """Yield the file of every setting that is pinned."""
    yield from (need.recipe.path for each in fixed.fixed for need in each.request.needs for _ in need.set)


def pinned(
    differences: Sequence[Difference],
    chosen: Collection[str],
    old: Sequence[Recipe],
    judgement: Judgement,
    judge: Linter,
    mentions: Mentions,
) -> Fixed:
    """Plan and prove the pins of the chosen recipes, of each all together; where that fails, one by one.

    `old` are the recipes under the old release: a pin has to be right for all callers of a recipe. `mentions` are asked
    for other users of the edited texts.
    """
    repair = Repair(judgement, judge, (), mentions)
    project = repair.project()
    before = repair.judged(judgement, unsafe=True)
    callers = _OtherCalls({key_of(recipe): recipe for recipe in old})
    sources, is_linted = judgement.sources, judge.is_linted

    def proved(requests: list[FixRequest]) -> Fixed:
        def evaluate(texts: Mapping[str, str]) -> Judged:
            return callers.marked(project.evaluate(texts), requests)

        def widen(judged: Judged, texts: Mapping[str, str], edited: Collection[str]) -> Judged:
            wider = project.widen(judged, texts, edited)
            return judged if wider is judged else callers.marked(wider, requests)

        marked = callers.marked(replace(before, requests=requests), requests)
        return fix_project(marked, evaluate, sources.text, is_linted, widen)

    fixed = proved([each for each in _requests(differences, lambda each: "") if each.key in chosen])
    failed = {each.request.key for each in fixed.unproved}
    if not failed or fixed.texts:
        return fixed
    return proved(
        [each for each in _requests(differences, lambda each: f" {each.path}") if each.key.rpartition(" ")[0] in failed]
    )


class _OtherCalls:
    """The recipes under the old release in the calls that others may make of them, worked out where it is needed."""

    def __init__(self, recipes: Mapping[str, Recipe]) -> None:
        self._recipes = recipes
        self._variants: dict[str, Mapping[tuple[str, ...], Variant]] = {}

    def marked(self, judged: Judged, requests: Sequence[FixRequest]) -> Judged:
        """Add a mistake to other calls of a recipe: a setting that is pinned in it has not the value that it had."""
        wanted: dict[str, list[tuple[str, Mapping[str, Plain]]]] = defaultdict(list)
        for request in requests:
            for need in request.needs:
                if need.set:
                    wanted[key_of(need.recipe)].append((request.code, need.set))

        def marks(recipes: Iterable[Recipe]) -> Iterator[Broken]:
            for recipe in recipes:
                for code, values in wanted.get(key_of(recipe), ()):
                    yield from (
                        Broken(code, "error", recipe, variant)
                        for variant in recipe.variants
                        if self._had(recipe, variant, values)
                        and not all(is_known_as(variant.value(path), value) for path, value in values.items())
                    )

        with_users = judged.with_users
        return replace(
            judged,
            breaks=lambda recipes: [*judged.breaks(recipes), *marks(recipes)],
            with_users=None if with_users is None else lambda: self.marked(with_users(), requests),
        )

    def _had(self, recipe: Recipe, variant: Variant, values: Mapping[str, Plain]) -> bool:
        """Tell whether a call had these values under the old release."""
        key = key_of(recipe)
        if key not in self._variants:
            old = self._recipes.get(key)
            made = () if old is None or old.callers is None else in_other_calls(old, old.callers.given()).variants
            self._variants[key] = {each.when: each for each in made}
        then = self._variants[key].get(variant.when)
        return then is not None and all(is_known_as(then.value(path), value) for path, value in values.items())


def _requests(differences: Sequence[Difference], part: Callable[[Difference], str]) -> Iterator[FixRequest]:
    """Yield a request for each recipe, or part of it; what it sets may change in every recipe that is built on it."""
    groups: dict[str, list[Difference]] = defaultdict(list)
    ways: dict[int, tuple[Recipe, Variant, set[str]]] = {}
    for each in differences:
        ways.setdefault(id(each.variant), (each.recipe, each.variant, set()))[2].add(each.path)
        if why_not(each) is None:
            groups[f"{key_of(each.recipe)}{part(each)}"].append(each)
    for key, group in groups.items():
        values: dict[int, dict[str, Plain]] = defaultdict(dict)
        for each in group:
            assert isinstance(each.old, Known)
            values[id(each.variant)][each.path] = each.old.value
        paths = {each.path for each in group}
        needs = [Need(*ways[way][:2], set_, anchors=_anchors(*ways[way][:2])) for way, set_ in values.items()]
        needs += (
            Need(recipe, variant, {}, may_change=tuple(sorted(theirs & paths)))
            for way, (recipe, variant, theirs) in ways.items()
            if way not in values and theirs & paths
        )
        yield FixRequest(key, f"{PIN} {key}", "error", "unsafe", tuple(needs))


def _anchors(recipe: Recipe, variant: Variant) -> tuple[str, ...]:
    """Return settings that the recipe's own function assigns, the last one first: places to write behind.

    A function that launches its configuration is not at its end where that has all its settings.
    """
    found = []
    for path in variant.settings.written():
        origin = variant.origin(path)
        if origin is None or (origin.span.path, origin.function) != (recipe.path, recipe.name):
            continue
        if origin.how == "assigned" and variant.value(path) not in (NONE, Known(False)):
            found.append((origin.order, path))
    ordered = [path for _, path in sorted(found, reverse=True)]
    return tuple(dict.fromkeys((*ordered[:_PLACES], *ordered[-1:])))


def key_of(recipe: Recipe) -> str:
    """Name a recipe, apart from all others."""
    return f"{recipe.path}::{recipe.label}"
