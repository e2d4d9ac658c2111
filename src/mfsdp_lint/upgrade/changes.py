"""Silent changes: the effective configuration of every recipe under both releases, and why it differs.

A setting is compared where both releases have it and both values are known. As far as start-up is known, a setting that
is written alike, and that start-up makes another in the two releases, is a change as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from mfsdp_lint.core.recipe import Origin, Recipe, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.fixes.judged import Way, equal
from mfsdp_lint.megatron.startup.resolve import resolve
from mfsdp_lint.megatron.versions import Target

Cause = Literal["default", "recipe", "start-up", "files"]
"""A default that upstream declares; the code of the library that made the recipe; what start-up does; the user's files,
which say something else under the other release."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting of one way through a recipe that is `old` under the one release, and `new` under the other."""

    recipe: Recipe
    variant: Variant
    path: str
    old: Value
    new: Value
    cause: Cause
    before: Origin | None
    after: Origin | None


@dataclass(frozen=True, slots=True)
class Change:
    """Differences of one cause: one setting, with its old and new value, and the places that make it so."""

    path: str
    old: Value
    new: Value
    cause: Cause
    differences: tuple[Difference, ...]

    @property
    def recipes(self) -> tuple[str, ...]:
        """The recipes that it is in."""
        return tuple(dict.fromkeys(f"{each.recipe.path}::{each.recipe.label}" for each in self.differences))

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Where the value is made in both releases, as `file:line`; most recipes first, without unknown ones."""
        made = Counter((_at(each.before), _at(each.after)) for each in self.differences)
        return tuple(pair for pair, _ in made.most_common() if all(pair))


@dataclass(frozen=True, slots=True)
class Compared:
    """All recipes that both releases have: the differences, and what could not be compared.

    `equal` counts the settings that are the same. `undecided` counts, by setting, the recipes in which a value is not
    known in one of the releases, or in both. `moved` has the settings that are the same under another path, with that
    path.
    """

    differences: tuple[Difference, ...]
    equal: int
    undecided: Mapping[str, int]
    recipes: int
    moved: Mapping[str, str]


def ways_of(recipes: Sequence[Recipe]) -> dict[Way, tuple[Recipe, Variant]]:
    """Return every way through some recipes, told without line numbers; those that callers turn on included."""
    found: dict[Way, tuple[Recipe, Variant]] = {}
    for recipe in recipes:
        for variant in (*recipe.variants, *recipe.exposed):
            number = 0
            while (way := (recipe.path, f"{recipe.qualified_name} {recipe.label}", variant.when, number)) in found:
                number += 1
            found[way] = recipe, variant
    return found


def compared(
    before: Sequence[Recipe], after: Sequence[Recipe], old: Target, new: Target, named: Mapping[str, str]
) -> Compared:
    """Compare the recipes of one project under two releases; `named` are settings that are called otherwise."""
    earlier, later = ways_of(before), ways_of(after)
    found: list[Difference] = []
    same = 0
    undecided: Counter[str] = Counter()
    elsewhere: dict[str, str] = {}
    shared = [way for way in earlier if way in later]
    for way in shared:
        (_, then), (recipe, now) = earlier[way], later[way]
        told: set[str] = set()
        moved = _moved(then, now, named)
        sections = {each.rpartition(".")[0] for each in then.settings}
        for path in dict.fromkeys((*then.settings, *now.settings)):
            if path.rpartition(".")[2].startswith("_") or path in moved.values():
                continue
            home = moved.get(path, path)
            left, right = then.value(path), now.value(home)
            if differ(left, right):
                told.update((path, home))
                causes = then.origin(path), now.origin(home)
                found.append(Difference(recipe, now, home, left, right, _cause(*causes), *causes))
            elif isinstance(left, Known) and isinstance(right, Known):
                same += 1
                if home != path:
                    elsewhere[path] = home
            elif path in then.settings and home in now.settings and not _has_parts(path, left, right, sections):
                undecided[home] += 1
        found += _at_startup(recipe, then, now, told, old, new)
    recipes = {(recipe.path, recipe.label) for recipe, _ in (later[way] for way in shared)}
    return Compared(tuple(found), same, undecided, len(recipes), elsewhere)


def differ(left: Value, right: Value) -> bool:
    """Tell whether two values are surely different."""
    if isinstance(left, Known) and isinstance(right, Known):
        return not equal(left, right)
    return (left, right) in ((NONE, NOT_NONE), (NOT_NONE, NONE))


def _has_parts(path: str, left: Value, right: Value, sections: Collection[str]) -> bool:
    """Tell whether a value is an object in both releases, the settings of which are compared by themselves."""
    return left == right == NOT_NONE and path in sections


def _moved(then: Variant, now: Variant, named: Mapping[str, str]) -> dict[str, str]:
    """Map settings to the path that has them now, where the old path is gone, or empty.

    That is their other name, or the only new path of the same name: in the same section (`model.transformer.x` for
    `model.x`), or in a section that the old release lacks.
    """
    sections = {path.partition(".")[0] for path in then.settings}
    homes: dict[str, list[str]] = {}
    for path in now.settings:
        if "." in path and path not in then.settings:
            homes.setdefault(path.rpartition(".")[2], []).append(path)
    found = {}
    for path in then.settings:
        if now.value(path) not in (NONE, UNKNOWN) or then.value(path) == NONE:
            continue
        section, _, name = path.partition(".")
        near = [each for each in homes.get(name, ()) if each.partition(".")[0] == section or not _is_of(each, sections)]
        if path in named and named[path] in now.settings:
            found[path] = named[path]
        elif len(near) == 1 and (path not in now.settings or not _is_of(near[0], sections)):
            found[path] = near[0]
    return found


def _is_of(path: str, sections: Collection[str]) -> bool:
    return path.partition(".")[0] in sections


def _cause(before: Origin | None, after: Origin | None) -> Cause:
    theirs = [origin is None or origin.upstream is not None or origin.how == "default" for origin in (before, after)]
    if not all(theirs):
        return "files"
    declared = [origin is None or origin.how == "default" for origin in (before, after)]
    return "default" if all(declared) else "recipe"


def _at_startup(
    recipe: Recipe, then: Variant, now: Variant, told: set[str], old: Target, new: Target
) -> Iterator[Difference]:
    """Yield the settings that are written alike, and that start-up leaves different."""
    if recipe.partial or recipe.kind in ("overrides", "arguments"):
        return
    ran = [resolve(each, target, front_end=recipe.front_end) for each, target in ((then, old), (now, new))]
    for path in dict.fromkeys(path for each in ran for path in each.changed()):
        if path in told or path not in then.settings or path not in now.settings:
            continue
        left, right = (each.run.value(path) for each in ran)
        if isinstance(left, Known) and isinstance(right, Known) and not equal(left, right):
            places = (each.run.origin(path) for each in ran)
            yield Difference(recipe, now, path, left, right, "start-up", *places)


def by_cause(differences: Iterable[Difference]) -> list[Change]:
    """Group differences that one cause has, those of most recipes first."""
    groups: dict[object, list[Difference]] = {}
    for each in differences:
        key = (each.path, repr(each.old), repr(each.new), each.cause)
        groups.setdefault(key, []).append(each)
    found = [Change(each[0].path, each[0].old, each[0].new, each[0].cause, tuple(each)) for each in groups.values()]
    order: Mapping[Cause, int] = {"files": 0, "default": 1, "recipe": 2, "start-up": 3}
    return sorted(found, key=lambda each: (order[each.cause], -len(each.recipes), each.path))


def _at(origin: Origin | None) -> str:
    return "" if origin is None else f"{origin.span.path}:{origin.span.line}"
