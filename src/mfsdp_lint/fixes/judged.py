"""A project as proofs see it: requests for fixes, mistakes, and ways through recipes.

A way is told from others in readings of different texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from mfsdp_lint.core.finding import Edit, Safety, Severity
from mfsdp_lint.core.recipe import CALLED, Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known, OneOf, Plain, Value, same


@dataclass(frozen=True, slots=True)
class Need:
    """Changes needed on one way through one recipe.

    `set` has the values that settings should have, `unset` the settings that should not be set at all. `anchors` are
    the settings that turned on the feature that the finding is about, the most telling first. The variant is one of
    the recipe's own. `edits` have to be made as they are: they belong to a finding about text, which has no setting to
    change. `drop` are settings without effect after the fix: their writes are taken out where possible. `rename` maps
    paths that are no settings to the setting that was meant. `may_change` are the settings that `edits` are about. A
    `piece` is a file that the recipe at fault takes settings from: it may stay as it is where the recipe is changed.
    """

    recipe: Recipe
    variant: Variant
    set: Mapping[str, Plain]
    unset: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    may_change: tuple[str, ...] = ()
    piece: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The settings that may change."""
        return (*self.set, *self.unset, *self.drop, *self.rename, *self.rename.values(), *self.may_change)


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A finding that should be fixed: `key` tells it from all others, `code` is what is broken (see `Broken`).

    `unread`: the run surely ends before start-up looks at any setting. What is wrong with the settings was never told
    then, so that the fix uncovers it, and does not bring it in. `stops`: start-up refuses the run as it is; `raises` is
    the text that it ends with.
    """

    key: str
    code: str
    severity: Severity
    safety: Safety
    needs: tuple[Need, ...]
    unread: bool = False
    stops: bool = False
    raises: str = ""


def anchors_of(request: FixRequest) -> Iterator[Span]:
    """Yield the places in the project where the feature that a finding is about is turned on, and where they have it
    from.
    """
    for need in request.needs:
        for setting in need.anchors:
            if setting not in need.named and (origin := need.variant.origin(setting)) is not None:
                # (What upstream writes is in no file at hand; a launch may have said it.)
                yield from origin.spans()[origin.upstream is not None :]


Way = tuple[str, str, tuple[str, ...], int]
"""A way through a recipe, told without line numbers: path, qualified name, conditions, and which of equal ones."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A mistake of one variant of one recipe; `code` distinguishes it from the variant's other mistakes.

    A `silenced` mistake is not reported: something stronger silences it.
    """

    code: str
    severity: Severity
    recipe: Recipe
    variant: Variant
    silenced: bool = False


Breaks = Callable[[Sequence[Recipe]], Sequence[Broken]]
"""Finds the violations in recipes."""


class Search(Protocol):
    """Finds the other files of a file's repository that have all of some words, with their texts.

    `quoting`: also those that nothing is run from, but that quote others: lists, locks, patches. May raise TooMany.
    """

    def __call__(self, path: str, words: Collection[str], *, quoting: bool = False) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Picture:
    """All ways through some recipes, and what each of them breaks."""

    ways: dict[Way, Variant]
    broken: dict[tuple[Way, str], Severity]

    def __or__(self, other: Picture) -> Picture:
        return Picture(self.ways | other.ways, self.broken | other.broken)


def picture(recipes: Sequence[Recipe], broken: Iterable[Broken]) -> Picture:
    """Collect the ways through recipes; if a way has several mistakes under one code, the last one counts."""
    ways: dict[Way, Variant] = {}
    for recipe in recipes:
        for variant in (*recipe.variants, *recipe.exposed):
            number = 0
            while (way := (recipe.path, recipe.qualified_name, variant.when, number)) in ways:
                number += 1
            ways[way] = variant
    way_of = {id(variant): way for way, variant in ways.items()}
    return Picture(ways, {(way_of[id(each.variant)], each.code): each.severity for each in broken})


def parts(before: Picture, after: Picture) -> dict[Way, Way]:
    """Map new ways, each a part of a way that is gone, to that way.

    Where an edit tests an unknown value (`x if fsdp else y`, with `fsdp` left to the caller), both branches are taken.
    The case in which callers turn it on is then among the recipe's own ways, and no longer listed separately.
    """
    gone = [way for way in before.ways if way not in after.ways]
    come = [way for way in after.ways if way not in before.ways]
    whole = {}
    for way in come:
        found = [each for each in gone if _is_part(way, each) and not before.ways[each].exposed]
        if len(found) == 1:
            whole[way] = found[0]
    split = {way[:2] for way in whole}
    other = {way[:2] for way in come if way not in whole}
    for way in gone:
        if way not in whole.values() and not (before.ways[way].exposed and way[:2] in split):
            other.add(way[:2])
    return {way: each for way, each in whole.items() if way[:2] not in other}


def _is_part(way: Way, whole: Way) -> bool:
    """Tell whether a way is taken under the conditions of another one, and further ones."""
    conditions = iter(way[2])
    return way[:2] == whole[:2] and len(way[2]) > len(whole[2]) and all(each in conditions for each in whole[2])


def may_become(before: Value, after: Value) -> bool:
    """Tell whether a value on a way can be `after` on a part of that way."""
    if isinstance(before, OneOf):
        return isinstance(after, Known) and any(same(each, after.value) for each in before.values)
    return not isinstance(before, Known)


def is_whole_of(path: str, before: Value, after: Value, named: Collection[str]) -> bool:
    """Tell whether a setting changes only because some of the `named` settings are parts of it.

    A new setting creates its section; the section's other settings are compared separately. The variables of a
    configuration are parts of a dictionary, and removing one leaves the others unchanged.
    """
    if any(each.startswith(f"{path}.") for each in named):
        return True
    if path != "env_vars" or not isinstance(before, Known) or not isinstance(after, Known):
        return False
    old, new = (each.value if isinstance(each.value, dict) else {} for each in (before, after))
    keys = [key for key in {**old, **new} if key not in old or key not in new or not same(old[key], new[key])]
    return all(f"env.{key}" in named for key in keys)


def is_same_as(path: str, other: str, before: Variant, after: Variant) -> bool:
    """Tell whether a setting is another name of one in the same section (`model.transformer.…`), with its value."""
    (section, _, name), (home, _, same_name) = path.partition("."), other.partition(".")
    if section != home or name.rpartition(".")[2] != same_name:
        return False
    return all(equal(each.value(path), each.value(other)) for each in (before, after))


def equal(left: Value, right: Value) -> bool:
    """Tell whether two values are the same, as far as they are known."""
    if isinstance(left, Known) and isinstance(right, Known):
        return same(left.value, right.value)
    return left == right


def is_unset(value: Value) -> bool:
    """Tell whether a setting is not set, as far as that is known."""
    # A flag that nobody gives is off.
    return not (isinstance(value, Known) and value.value is not None and value.value is not False)


def as_call(way: Way) -> Way:
    """Convert the way of a caller who turns on an exposed switch into one of the recipe's other calls."""
    return (*way[:2], (f"{CALLED} {way[2][0]}", *way[2][1:]), way[3]) if way[2] else way


def in_other_calls(recipe: Recipe, calls: Sequence[Mapping[str, Plain]]) -> Recipe:
    """Rebuild a recipe for callers with other arguments. Their conditions distinguish these ways from its own."""
    given = calls if recipe.callers else ()
    variants = (variant for arguments in given if recipe.callers for variant in recipe.callers.variants(arguments))
    return replace(recipe, variants=tuple(variants), exposed=())


def pairs(before: Sequence[Recipe], after: Sequence[Recipe]) -> Iterator[tuple[Recipe, Recipe]]:
    """Yield the recipes that were read anew, each with its old reading; identical objects are left out."""
    same = {id(recipe) for recipe in before} & {id(recipe) for recipe in after}
    waiting: dict[tuple[str, str, str], list[Recipe]] = defaultdict(list)
    for recipe in after:
        if id(recipe) not in same:
            waiting[_name(recipe)].append(recipe)
    for recipe in before:
        if id(recipe) not in same and waiting[_name(recipe)]:
            # Several versions give several readings, in their order.
            yield recipe, waiting[_name(recipe)].pop(0)


def _name(recipe: Recipe) -> tuple[str, str, str]:
    return recipe.path, recipe.qualified_name, recipe.label


@dataclass(frozen=True, slots=True)
class Judged:
    """Result of reading and judging the project: its recipes, what they break, and the files that cannot be read.

    `requests` are the findings that should be fixed, of the wanted safety. `files` are those that were read. `breaks`
    judges further recipes, and `search` finds mentions of names in other files. `users` are files that were not named
    for linting but use files that are edited; `asked` is the judgement without them, where they are included, and
    `with_users` makes the one with them, which takes longer. `unprovable` says that there may be more such files than
    can be read, so that no fix can be proved. `afford` gives up a proof that edits any of some files where reading the
    users surely takes more work than is left.
    """

    recipes: Sequence[Recipe]
    broken: Sequence[Broken]
    requests: Sequence[FixRequest] = ()
    unreadable: Sequence[str] = ()
    files: Sequence[str] = ()
    breaks: Breaks = lambda recipes: ()
    search: Search | None = None
    users: Sequence[str] = ()
    asked: Judged | None = None
    with_users: Callable[[], Judged] | None = None
    unprovable: bool = False
    afford: Callable[[Collection[str]], None] = lambda paths: None


Evaluate = Callable[[Mapping[str, str]], Judged]
"""Reads and judges the project with other texts for some of its files (by path)."""

Widen = Callable[[Judged, Mapping[str, str], Collection[str]], Judged]
"""Adds everybody who uses some files to the judgement of the project with other texts."""
