"""For programs: the settings of every recipe, with their origins. Version 2 only ever gains keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Unfollowed
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.megatron.startup.resolve import differs, will_run
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.memory.estimate import LEFT_OUT, Answer, Memory, MemoryOf, sources_of
from mfsdp_lint.reports.audit.columns import chosen
from mfsdp_lint.reports.json import (
    attributes,
    origin_document,
    recipe_document,
    target_document,
    unfollowed_document,
    value_document,
)

_INLINE = ("path", "line", "end_line")
"""The parts of its origin that a setting repeats; the rest stands once for all settings that have it in common."""


def render(
    recipes: Sequence[Recipe],
    target: Target,
    globs: Sequence[str] = (),
    unfollowed: Sequence[Unfollowed] = (),
    memory_of: MemoryOf | None = None,
) -> Iterator[str]:
    """Yield the document in pieces, a recipe a line: the settings of a large tree are many megabytes.

    `settings` are as written: those that `globs` choose, else those of the vocabulary and of the environment. `others`
    are, without globs, the further settings that any file wrote, each with its place in `values`; a setting that is
    left out is at its declared default. `will_run` are the settings to which start-up is known to give another value,
    with upstream's line that does it, and the subject of that line. `variants`, if a recipe has several execution
    paths, holds the conditions of each and the settings that differ there. An origin's `ref` is the place in `origins`
    of its details: how it was written, columns, function, release, sources. `memory`, if requested, has the bytes
    on each rank, for every way of wrapping the model.
    """
    yield f'{{"version": 2, "target": {_encode(target_document(target))}, "recipes": ['
    tables = _Tables()
    for number, recipe in enumerate(recipes):
        document = _recipe(recipe, target, globs, tables)
        if memory_of is not None:
            document["memory"] = memory_document(memory_of(recipe))
        yield f"{',' if number else ''}\n{_encode(document)}"
    for name, table in (("values", tables.values), ("origins", tables.origins)):
        yield f'\n], "{name}": ['
        yield ",".join(f"\n{each}" for each in table)
    memory = "" if memory_of is None else f'"memory": {_encode(memory_sources(target))}, '
    yield f'\n], {memory}"unfollowed": {_encode([unfollowed_document(each) for each in unfollowed])}}}\n'


_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class _Tables:
    """Data that several settings share, by its text, with its number."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.origins: dict[str, int] = {}

    def setting(self, setting: Setting) -> dict[str, Any]:
        """Describe state, value or values, and origin (None if no file wrote it, or that is not known)."""
        origin = None if setting.origin is None else self._origin(setting.origin)
        return {**value_document(setting.value), "origin": origin}

    def number(self, setting: Setting) -> int:
        """Return the setting's number in `values`."""
        return self.values.setdefault(_encode(self.setting(setting)), len(self.values))

    def _origin(self, origin: Origin) -> dict[str, Any]:
        whole = origin_document(origin)
        rest = _encode({key: value for key, value in whole.items() if key not in _INLINE})
        return {key: whole[key] for key in _INLINE} | {"ref": self.origins.setdefault(rest, len(self.origins))}


def _recipe(recipe: Recipe, target: Target, globs: Sequence[str], tables: _Tables) -> dict[str, Any]:
    settings = {path: recipe.setting(path) for path in chosen(recipe, globs)}
    document = recipe_document(recipe)
    document["settings"] = {path: tables.setting(each) for path, each in settings.items() if globs or _is_main(path)}
    run = will_run(recipe, target)
    after = {path: run.setting(path) for path in document["settings"]}
    document["will_run"] = {
        path: {**tables.setting(setting), "step": setting.origin.because if setting.origin else ""}
        for path, setting in after.items()
        if differs(settings[path].value, setting.value)
    }
    if not globs:
        others = {path: each for path, each in settings.items() if not _is_main(path) and _is_written(each)}
        document["others"] = {path: tables.number(each) for path, each in others.items()}
    if len(recipe.variants) > 1:
        different = [path for path in settings if len({str(each.value(path)) for each in recipe.variants}) > 1]
        document["variants"] = [
            {
                "when": each.when,
                "settings": {
                    path: value_document(value) for path in different if (value := each.value(path)) != UNKNOWN
                },
            }
            for each in recipe.variants
        ]
    return document


def _is_main(path: str) -> bool:
    """Tell whether rules know a setting, or it is a variable of the environment."""
    return path in SETTINGS or path.startswith("env.")


def _is_written(setting: Setting) -> bool:
    """Tell whether a file wrote a setting: it is no declared default, and no section that has settings itself."""
    return setting.origin is not None and setting.origin.how != "default" and "." in setting.path


def memory_document(memory: Memory) -> dict[str, Any]:
    """Describe the memory of one recipe, without the data of `memory_sources`.

    Unknown bytes are None, and `why` has the reason.
    """
    parameters = memory.count and {
        "total": memory.count.total,
        "dense_on_rank": memory.count.dense,
        "experts_on_rank": memory.count.experts,
        "formula": list(memory.count.formula),
    }
    return {
        **attributes(memory, "ranks", "shards", "expert_shards"),
        "parameters": parameters,
        **attributes(memory, "why", "own_why"),
        "wrapped": [
            {"as": each.key, "label": each.label, "own": each.runs}
            | {name.replace(" ", "_"): attributes(amount, "bytes", "formula", "why") for name, amount in each.amounts}
            | {"total": attributes(each.total, "bytes", "why")}
            | {
                "gathered": attributes(each.gathered, "bytes", "formula", "why"),
                "activations": attributes(each.activations, "bytes", "formula", "why"),
                "in_all": attributes(each.needed, "bytes", "why"),
            }
            for each in memory.footprints
        ],
        **({} if memory.fit is None else {"fit": _fit(memory.fit)}),
    }


def _fit(answer: Answer) -> dict[str, Any]:
    """Describe whether a recipe fits, and the changes that would make it fit, the cheapest first."""
    return {
        "fit": answer.fit,
        "why": answer.why,
        "limit": attributes(answer.limit, "bytes", "label"),
        "proposals": [{"set": dict(each.changes), **attributes(each, "bytes", "fit")} for each in answer.proposals],
    }


def memory_sources(target: Target) -> dict[str, Any]:
    """Describe the data about memory that all recipes share: the sources of the formulas, and their omissions."""
    return {
        "sources": [attributes(each, "says", "place", "release") for each in sources_of(target)],
        "left_out": list(LEFT_OUT),
    }
