"""Sides of the page: all recipes for one target, or at one revision, as data for its script.

Settings that no rule knows and no file writes are left out: they are at their declared defaults.

Cost of a recipe's model state on each rank, as data for the page.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Recipe, Setting
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.megatron.startup.resolve import differs, resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.memory.result import Memory, MemoryOf
from mfsdp_lint.reports.audit.columns import COLUMNS, RUNS, Column
from mfsdp_lint.reports.audit.page.cells import IsAtHand, cell_of, shown
from mfsdp_lint.reports.audit.page.tables import NOTHING, Table, Tables
from mfsdp_lint.reports.by_recipe import RecipeState
from mfsdp_lint.reports.memory import cells, formula, said
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.snippet import Lines


def memory_document(memory: Memory, tables: Tables) -> dict[str, Any]:
    """Describe, by texts' numbers, each way of wrapping with its sizes, and the formulas of one (best its own)."""
    shown = memory.own or next(iter(memory.footprints), None)
    return {
        "ranks": memory.ranks,
        "said": [tables.whole(line) for line in said(memory)],
        "why": tables.whole(memory.why),
        "rows": [
            [int(each.runs), tables.whole(each.label), *map(tables.whole, cells(each))] for each in memory.footprints
        ],
        "formulas": [[tables.whole(name), tables.whole(formula(amount))] for name, amount in shown.amounts]
        if shown
        else [],
        "sources": [
            [tables.whole(each.says), tables.whole(f"{each.place} of {each.release}")] for each in memory.sources
        ],
        "left": [tables.whole(each) for each in memory.left_out],
    }


@dataclass(frozen=True, slots=True)
class Side:
    """Contents of a side. `title` names it among others; `states` are the findings of the recipes, `memory` their
    memory needs, if requested.
    """

    title: str
    target: Target
    recipes: Sequence[Recipe]
    states: Sequence[RecipeState]
    lines: Lines
    at_hand: IsAtHand
    memory: MemoryOf | None = None


def side_document(side: Side) -> dict[str, Any]:
    """Describe the side as JSON.

    `settings` are paths, each with the cell that most recipes have there (-1: none); a recipe has, for each setting
    that differs, its number and that of the cell. A cell is value, kind and origin and, if start-up changes the value,
    the new value, the step and its place. `columns` are texts, with the text after start-up if that is another.
    """
    tables, paths = Tables(side.lines), Table()
    rows = [_cells(recipe, side, tables, paths) for recipe in side.recipes]
    usual = _usual(rows, len(paths.rows))
    troubles = {(state.path, state.line, state.name): state.troubles for state in side.states}
    recipes = []
    for recipe, row in zip(side.recipes, rows, strict=True):
        document = _about(recipe)
        document["columns"] = row.columns
        document["cells"] = list(_unusual(row.cells, usual))
        document["variants"] = row.variants
        document["troubles"] = [
            [each.code, printable(each.message), each.severity, each.fingerprint, each.setting]
            for each in troubles.get((recipe.path, recipe.line, recipe.label), ())
        ]
        if side.memory is not None:
            document["memory"] = memory_document(side.memory(recipe), tables)
        recipes.append(document)
    return {
        "title": side.title,
        "target": printable(side.target.label),
        "texts": list(tables.texts.rows),
        "places": list(tables.places.rows),
        "origins": list(tables.origins.rows),
        "cells": list(tables.cells.rows),
        "settings": [[printable(str(path)), cell] for path, cell in zip(paths.rows, usual, strict=True)],
        "recipes": recipes,
    }


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a recipe by the number of their setting, its columns, and its execution paths."""

    cells: Mapping[int, int]
    columns: Sequence[str | list[str]]
    variants: Sequence[dict[str, Any]]


def _cells(recipe: Recipe, side: Side, tables: Tables, paths: Table) -> _Row:
    resolved = [resolve(each, side.target, front_end=recipe.front_end) for each in recipe.variants]
    run = replace(recipe, variants=tuple(each.run for each in resolved))
    changed = dict.fromkeys(change.path for each in resolved for change in each.changes)
    differing = _differing(recipe)
    cells: dict[int, int] = {}
    for path in dict.fromkeys((*SETTINGS, *recipe.variants[0].settings.written(), *differing, *changed)):
        written = recipe.setting(path) if path in differing else _first(recipe, path)
        after = run.setting(path) if path in changed else None
        if after is not None and not differs(written.value, after.value):
            after = None
        if after is None and _says_nothing(path, written, path in differing):
            continue
        cells[paths.number(path)] = cell_of(recipe, written, after, tables, side.at_hand)
    return _Row(cells, [_column(column, recipe, run) for column in COLUMNS], list(_variants(recipe, differing)))


def _first(recipe: Recipe, path: str) -> Setting:
    """Return a setting that is the same in all variants."""
    return recipe.variants[0].settings.get(path) or Setting(path, UNKNOWN)


def _says_nothing(path: str, written: Setting, differs: bool) -> bool:
    """Tell whether a setting needs no line.

    This holds for an unknown setting that no file writes, one at a default that no rule looks at, and a section by
    itself.
    """
    if path in SETTINGS or "." not in path:
        return path not in SETTINGS or (written.origin is None and written.value == UNKNOWN)
    return not differs and (written.origin is None or written.origin.how == "default")


def _usual(rows: Sequence[_Row], settings: int) -> list[int]:
    """Find for every setting the cell that most recipes have; NOTHING if most have none."""
    counts: list[Counter[int]] = [Counter() for _ in range(settings)]
    for row in rows:
        for number, cell in row.cells.items():
            counts[number][cell] += 1
    usual = []
    for count in counts:
        cell, times = count.most_common(1)[0]
        usual.append(cell if times > len(rows) - count.total() else NOTHING)
    return usual


def _unusual(cells: Mapping[int, int], usual: Sequence[int]) -> Iterator[int]:
    """Yield setting and cell in turn, if a recipe has another cell than most, or none."""
    for number, cell in enumerate(usual):
        own = cells.get(number, NOTHING)
        if own != cell:
            yield number
            yield own


def _column(column: Column, recipe: Recipe, run: Recipe) -> str | list[str]:
    """Return a cell of the table; with the written value before it, if start-up changes it."""
    both = column.both(recipe, run)
    if RUNS not in both:
        return printable(both)
    written = column.of(recipe)
    return printable(both) if written == both else [printable(written), printable(both)]


def _differing(recipe: Recipe) -> dict[str, list[str]]:
    """Find the settings that depend on the execution path, and the value of each on every path."""
    found = {}
    for path in sorted(recipe.differing()):
        values = [shown(each.value(path)) for each in recipe.variants]
        if len(set(values)) > 1:
            found[path] = values
    return found


def _variants(recipe: Recipe, differing: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield the execution paths of a recipe that has several: their conditions, and the settings that differ."""
    for number, each in enumerate(recipe.variants if len(recipe.variants) > 1 else ()):
        yield {
            "when": [printable(condition) for condition in each.when],
            "settings": {printable(path): printable(values[number]) for path, values in differing.items()},
        }


def _about(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": printable(recipe.label),
        "qualified": printable(recipe.qualified_name),
        "path": printable(recipe.path),
        "line": recipe.line,
        "kind": recipe.kind,
        "folder": printable(os.path.dirname(recipe.path) or "."),
        "family": printable(family_of(recipe.name)),
    }


_FIRST_WORD = re.compile(r"[^\W\d_]+")


def family_of(name: str) -> str:
    """Return the first word of a name, without its number: `llama3_8b_pretrain_config` is of the family `llama`."""
    found = _FIRST_WORD.search(os.path.basename(name))
    return found.group().lower() if found else "other"
