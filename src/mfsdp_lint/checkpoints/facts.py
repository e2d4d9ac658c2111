"""Facts about the folder at a recipe's `checkpoint.load`, as settings that rules can ask for.

    found.checkpoint            what is wrong with the folder, or "run" where a run finds its checkpoint in it
    found.checkpoint_format     the format of what it loads there, as `checkpoint.ckpt_format` spells it

Both are unknown where the folder is not at hand, which is how it is on most machines that lint.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.recipe import Recipe, Setting, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import CWD, Known
from mfsdp_lint.inputs import disk

if TYPE_CHECKING:
    from mfsdp_lint.checkpoints.folder import CheckpointFolder

FOLDER, FORMAT = "found.checkpoint", "found.checkpoint_format"
_LOAD = "checkpoint.load"


def finder() -> Callable[[Recipe], Recipe]:
    """Return a function that adds these facts to recipes; it looks at each folder once."""
    look = cache(_look)

    def with_facts(recipe: Recipe) -> Recipe:
        variants, exposed = (tuple(_with(each, look) for each in some) for some in (recipe.variants, recipe.exposed))
        pairs = zip((*variants, *exposed), (*recipe.variants, *recipe.exposed), strict=True)
        same = all(now is then for now, then in pairs)
        return recipe if same else replace(recipe, variants=variants, exposed=exposed)

    return with_facts


def _with(variant: Variant, look: Callable[[str], CheckpointFolder | None]) -> Variant:
    load = variant.value(_LOAD)
    if not isinstance(load, Known) or not isinstance(load.value, str) or not load.value:
        return variant
    found = look(load.value)
    if found is None:
        return variant
    # The state of the folder that a run meets; None where it is unknown, as where a run has yet to save.
    state = next((trouble.state for trouble in found.troubles if trouble.state is not None), None)
    if found.level == "hugging face":
        state = "hugging face"
    elif state is None and found.level == "run":
        state = "run"
    if state is None:
        return variant
    origin = variant.origin(_LOAD)
    settings = With(variant.settings, Setting(FOLDER, Known(state), origin))
    # `checkpoint.ckpt_step` may load another iteration than the tracker names: all have to have one format.
    formats = {iteration.format for iteration in found.iterations}
    if state == "run" and len(formats) == 1 and not formats & {None, "dcp"}:
        settings = With(settings, Setting(FORMAT, Known(formats.pop()), origin))
    return replace(variant, settings=settings)


def _look(path: str) -> CheckpointFolder | None:
    place = path.replace(CWD, os.curdir, 1)  # a run is started where it is linted, as far as anybody knows
    if not disk.is_folder(place):
        return None
    from mfsdp_lint.checkpoints.folder import NoFolder, checkpoint  # few recipes load what is at hand

    try:
        return checkpoint(place, latest=0)
    except NoFolder:  # it cannot be read
        return None
