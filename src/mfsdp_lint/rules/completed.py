"""Recipes that only their launcher completes: what is wrong with one on its own, and fine as it is launched."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from mfsdp_lint.core.recipe import Origin, Recipe, Variant
from mfsdp_lint.core.values import Known, Value

Fired = Mapping[int, Sequence[tuple[str, Variant, tuple[str, ...]]]]
"""By the id of a recipe, the rules that fire: code, the settings that it saw, and those that made it fire."""

Place = tuple[str, int]


def completed(recipes: Sequence[Recipe], fired: Fired) -> dict[tuple[int, str], str]:
    """Find the launch scripts that keep a rule from firing in their recipe, by the recipe's id and the rule's code.

    The script has to set a value that makes the difference; an unknown value, for which no rule fires, is no cure.
    """
    launches: dict[Place, list[Recipe]] = defaultdict(list)
    for recipe in recipes:
        for path, line, _ in recipe.pieces:
            launches[posixpath.normpath(path), line].append(recipe)
    found: dict[tuple[int, str], str] = {}
    if launches:
        for recipe in recipes:
            for code, seen, witnesses in fired[id(recipe)]:
                by = next(
                    (each for each in _launches(recipe, launches) if _cures(each, code, seen, witnesses, fired)), None
                )
                if by is not None:
                    found[id(recipe), code] = by.path
    return found


def _launches(recipe: Recipe, launches: Mapping[Place, Sequence[Recipe]]) -> Sequence[Recipe]:
    line = 0 if recipe.kind == "overrides" else recipe.line
    return () if recipe.kind == "launch" else launches.get((posixpath.normpath(recipe.path), line), ())


def _cures(launch: Recipe, code: str, seen: Variant, witnesses: Sequence[str], fired: Fired) -> bool:
    if any(code == other for other, _, _ in fired[id(launch)]):
        return False
    return any(_says_otherwise(launch, path, seen.value(path)) for path in witnesses)


def _says_otherwise(launch: Recipe, path: str, value: Value) -> bool:
    """Tell whether the launch script, or a file that it names, gives a setting another value, on every way."""
    said_in = {launch.path, *(path for path, line, _ in launch.pieces if not line)}
    return bool(launch.variants) and all(
        isinstance(variant.value(path), Known)
        and variant.value(path) != value
        and _is_written_in(variant.origin(path), said_in)
        for variant in launch.variants
    )


def _is_written_in(origin: Origin | None, paths: Collection[str]) -> bool:
    return origin is not None and any(span.path in paths for span in origin.spans())
