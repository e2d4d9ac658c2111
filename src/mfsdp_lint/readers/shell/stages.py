"""Runs that load a folder which another run saves in a format that they do not read."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from mfsdp_lint.core.recipe import Notice, Recipe, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.shell.conversions import Loading, ScriptConversion, ScriptImport, is_anywhere
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
    imported: Sequence[ScriptImport],
    touched: Collection[str],
) -> Iterator[Recipe]:
    """Yield the recipes of `loadings`, each with a notice of the run among `every`, or the import of a model, that
    saves what it cannot read.

    Where some run saves there in a format that is read, or that is not known, there is none; nor where a script
    converts into the folder, or hands it to another program (`touched`). A notice of an earlier look is given up.
    """
    into = [each.into for each in converted if each.into is not None]
    runs = [run for each in every for run in _runs(each.recipe)]
    for loading in loadings:
        notices = []
        ways = ((run, way) for run in _runs(loading.recipe) for way in run.ways)
        # (On the way without a checkpoint of its own yet, a run may begin with another one's.)
        for (run, way), path in product(ways, _READ):
            folder, loads, origin = _text(way, path), _text(way, "checkpoint.ckpt_format"), way.origin(path)
            if folder is None or loads is None or origin is None or folder in touched:
                continue
            if any(f"{each}/".startswith(f"{folder}/") for each in into):
                continue
            savers = [each for each in runs if each.text("checkpoint.save") == folder and each.precedes(run, folder)]
            imports = [each for each in imported if each.into == folder and _precedes(each, run, path)]
            formats = {each.text("checkpoint.ckpt_format") for each in savers} | {each.saved for each in imports}
            if formats and formats <= set(_UNREADABLE.get(loads, ())):
                saver = [*(each.recipe.path for each in savers), *(each.path for each in imports)][0]
                other = saver if saver != loading.recipe.path else None
                facts = {"folder": folder, "saved": formats.pop(), "loads": loads, "run": other}
                notices.append(Notice(_KIND, origin.span, {**facts, "imports": not savers}))
        notices = list({each.span: each for each in notices}.values())
        before = tuple(each for each in loading.recipe.notices if each.kind != _KIND)
        told = (*before, *notices)
        # The same recipe keeps its results.
        yield loading.recipe if told == loading.recipe.notices else replace(loading.recipe, notices=told)


def _precedes(imported: ScriptImport, run: _Run, path: str) -> bool:
    """Tell whether a model may be imported before a run. What a run has to find is there when it starts, wherever the
    same file says it.
    """
    if imported.path != run.recipe.path:
        return is_anywhere(imported.into)
    return path == "checkpoint.pretrained_checkpoint" or imported.line < run.recipe.line


class _Run(NamedTuple):
    """A run of a recipe: the ways that it may be configured, and its number among the runs of one command."""

    recipe: Recipe
    number: int
    ways: Sequence[Variant]

    def text(self, path: str) -> str | None:
        """Return the text of a setting that is the same on all ways; None where it is not known."""
        texts = {_text(each, path) for each in self.ways}
        return texts.pop() if len(texts) == 1 else None

    def precedes(self, other: _Run, folder: str) -> bool:
        """Tell whether this may run before another: within a script it is above it, of two scripts nobody knows."""
        if self.recipe.path != other.recipe.path:
            return is_anywhere(folder)
        return (self.recipe.line, self.number) < (other.recipe.line, other.number)


def _text(way: Variant, path: str) -> str | None:
    value = way.value(path)
    return posixpath.normpath(value.value) if isinstance(value, Known) and isinstance(value.value, str) else None


def _runs(recipe: Recipe) -> list[_Run]:
    """Return the runs of a recipe: several where a function or a loop starts its command under no condition."""
    ways = (*recipe.variants, *recipe.exposed)
    if not recipe.exposed and not any(each.when for each in ways):
        return [_Run(recipe, number, [each]) for number, each in enumerate(ways)]
    return [_Run(recipe, 0, ways)]


def touched(launches: Iterable[ShellLaunch]) -> Iterator[str]:
    """Yield the paths among the words of programs that are no runs."""
    for launch in launches:
        for word in launch.started.arguments:
            said = known(word) or ""
            yield from (posixpath.normpath(each) for each in (said, said.partition("=")[2]) if "/" in each)
