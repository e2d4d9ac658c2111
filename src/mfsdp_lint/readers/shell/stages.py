"""Runs that load a folder which another run saves in a format that they do not read."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from mfsdp_lint.core.recipe import Notice, Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.shell.conversions import Loading, ScriptConversion, is_anywhere
from mfsdp_lint.readers.shell.launch_command import ShellLaunch
from mfsdp_lint.readers.shell.script import known

_READ = ("checkpoint.load", "checkpoint.pretrained_checkpoint")

_KIND: Final = "saved-otherwise"

_UNREADABLE: Mapping[str, Collection[str]] = {
    "fsdp_dtensor": ("torch_dist",),
    "torch_dcp": ("torch_dist",),
    "torch_dist": ("fsdp_dtensor", "torch_dcp"),
}
"""The formats of checkpoints that a run with a format does not read. A run takes a folder for torch_dist by its file
metadata.json and reads it as that, though what it asks for has no sharded tensors; the other way round it asks for
nothing (megatron/training/checkpointing.py, `load_checkpoint` and `_load_base_checkpoint`; those of Bridge alike).
"""


def with_other_formats(
    loadings: Sequence[Loading],
    every: Sequence[Loading],
    converted: Sequence[ScriptConversion],
    touched: Collection[str],
) -> Iterator[Recipe]:
    """Yield the recipes of `loadings`, each with a notice of the run among `every` that saves what it cannot read.

    Where some run saves there in a format that is read, or that is not known, there is none; nor where a script
    converts into the folder, or hands it to another program (`touched`). A notice of an earlier look is given up.
    """
    into = [each.into for each in converted if each.into is not None]
    for loading in loadings:
        notices = []
        for path in _READ:
            folder, loads = _text(loading.recipe, path), _text(loading.recipe, "checkpoint.ckpt_format")
            origin = loading.recipe.variants[0].origin(path) if loading.recipe.variants else None
            if folder is None or loads is None or origin is None or folder in touched:
                continue
            if any(f"{each}/".startswith(f"{folder}/") for each in into):
                continue
            savers = [
                each for each in every if _precedes(each, loading) and _text(each.recipe, "checkpoint.save") == folder
            ]
            formats = {_text(each.recipe, "checkpoint.ckpt_format") for each in savers}
            if formats and formats <= set(_UNREADABLE.get(loads, ())):
                recipe = savers[0].recipe
                run = recipe.path if recipe.path != loading.recipe.path else None
                facts = {"folder": folder, "saved": formats.pop(), "loads": loads, "run": run}
                notices.append(Notice(_KIND, origin.point, facts))
        before = tuple(each for each in loading.recipe.notices if each.kind != _KIND)
        yield replace(loading.recipe, notices=(*before, *notices))


def _precedes(saver: Loading, loading: Loading) -> bool:
    """Tell whether a run may run before another: within a script it stands above it, of other scripts nobody knows."""
    one, other = saver.recipe, loading.recipe
    folder = _text(one, "checkpoint.save") or ""
    return one.line < other.line if one.path == other.path else is_anywhere(folder)


def _text(recipe: Recipe, path: str) -> str | None:
    """Return the text of a setting that is the same however the run is started; None where it is not known."""
    values = {each.value(path) for each in (*recipe.variants, *recipe.exposed)}
    value = values.pop() if len(values) == 1 else None
    return posixpath.normpath(value.value) if isinstance(value, Known) and isinstance(value.value, str) else None


def touched(launches: Iterable[ShellLaunch]) -> Iterator[str]:
    """Yield the paths among the words of programs that are no runs."""
    for launch in launches:
        for word in launch.started.arguments:
            said = known(word) or ""
            yield from (posixpath.normpath(each) for each in (said, said.partition("=")[2]) if "/" in each)
