"""For programs: every setting of every recipe, with its origin. Version 1 only ever gains keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Recipe, Setting, Unfollowed, Variant
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.reports.settings import (
    chosen,
    recipe_document,
    setting_document,
    target_document,
    unfollowed_document,
    value_document,
)
from mfsdp_lint.startup.resolve import differs, will_run
from mfsdp_lint.versions.target import Target


def render(
    recipes: Sequence[Recipe], target: Target, globs: Sequence[str] = (), unfollowed: Sequence[Unfollowed] = ()
) -> Iterator[str]:
    """The document in pieces, a recipe a line: all settings of a large tree are many megabytes.

    A setting that is missing is not known to exist. `settings` are as written, `will_run` those of them that start-up
    is known to give another value, with the line of upstream's that does it, and what that line is about. `variants`,
    where a recipe has several execution paths, holds the conditions of each and what is different there.
    """
    yield f'{{"version": 1, "target": {json.dumps(target_document(target))}, "recipes": ['
    encode = json.JSONEncoder(allow_nan=False).encode
    for number, recipe in enumerate(recipes):
        yield f"{',' if number else ''}\n{encode(_recipe(recipe, target, globs))}"
    yield f'\n], "unfollowed": {encode([unfollowed_document(each) for each in unfollowed])}}}\n'


def _recipe(recipe: Recipe, target: Target, globs: Sequence[str]) -> dict[str, Any]:
    paths = chosen(recipe, globs)
    document = recipe_document(recipe)
    document["settings"] = {path: setting_document(recipe.setting(path)) for path in paths}
    run = will_run(recipe, target)
    changed = [path for path in paths if differs(recipe.setting(path).value, run.setting(path).value)]
    document["will_run"] = {path: _will_run(run.setting(path)) for path in changed}
    if len(recipe.variants) > 1:
        different = [path for path in paths if len({str(each.value(path)) for each in recipe.variants}) > 1]
        document["variants"] = [_variant(each, different) for each in recipe.variants]
    return document


def _will_run(setting: Setting) -> dict[str, Any]:
    return {**setting_document(setting), "step": setting.origin.because if setting.origin else ""}


def _variant(variant: Variant, paths: Sequence[str]) -> dict[str, Any]:
    known = {path: variant.value(path) for path in paths}
    return {
        "when": list(variant.when),
        "settings": {path: value_document(value) for path, value in known.items() if value != UNKNOWN},
    }
