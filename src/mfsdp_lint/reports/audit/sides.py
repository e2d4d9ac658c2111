"""Sides of the page: all recipes for one target, or at one revision, as data for its script.

Settings that no rule knows and no file writes are left out: they are at their declared defaults.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import UNKNOWN, Value, describe
from mfsdp_lint.megatron.startup.resolve import differs, resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.memory.estimate import Memory, MemoryOf
from mfsdp_lint.readers.command_line_overrides import COMMAND_LINE
from mfsdp_lint.reports.audit.columns import COLUMNS, RUNS, Column
from mfsdp_lint.reports.audit.memory import cells, formula, said
from mfsdp_lint.reports.by_recipe import RecipeState
from mfsdp_lint.reports.snippet import Lines
from mfsdp_lint.reports.wording import clipped, printable


def memory_document(memory: Memory, tables: Tables) -> dict[str, Any]:
    """Describe, by texts' numbers, each way of wrapping with its sizes, and the formulas of one (best its own)."""
    whole, shown = tables.whole, memory.own or next(iter(memory.footprints), None)
    return {
        "ranks": memory.ranks,
        "said": [whole(line) for line in said(memory)],
        "why": whole(memory.why),
        "rows": [[int(each.runs), whole(each.label), *map(whole, cells(each))] for each in memory.footprints],
        "formulas": [[whole(name), whole(formula(amount))] for name, amount in (shown.amounts if shown else ())],
        "sources": [[whole(each.says), whole(f"{each.place} of {each.release}")] for each in memory.sources],
        "left": [whole(each) for each in memory.left_out],
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
    tables, paths = Tables(side.lines), RowNumbers()
    documents = [_document(recipe, side, tables, paths) for recipe in side.recipes]
    usual = _usual([document["cells"] for document in documents], len(paths.rows))
    troubles = {(state.path, state.line, state.name): state.troubles for state in side.states}
    for recipe, document in zip(side.recipes, documents, strict=True):
        document["cells"] = list(_unusual(document["cells"], usual))
        document["troubles"] = [
            [each.code, printable(each.message), each.severity, each.fingerprint, each.setting]
            for each in troubles.get((recipe.path, recipe.line, recipe.label), ())
        ]
        if side.memory is not None:
            document["memory"] = memory_document(side.memory(recipe), tables)
    return {
        "title": side.title,
        "target": printable(side.target.label),
        "texts": list(tables.texts.rows),
        "places": list(tables.places.rows),
        "origins": list(tables.origins.rows),
        "cells": list(tables.cells.rows),
        "settings": [[printable(str(path)), cell] for path, cell in zip(paths.rows, usual, strict=True)],
        "recipes": documents,
    }


def _document(recipe: Recipe, side: Side, tables: Tables, paths: RowNumbers) -> dict[str, Any]:
    """Describe a recipe; `cells` are by the number of their setting as yet."""
    resolved = [resolve(each, side.target, front_end=recipe.front_end) for each in recipe.variants]
    run = replace(recipe, variants=tuple(each.run for each in resolved))
    changed = dict.fromkeys(change.path for each in resolved for change in each.changes)
    differing = _differing(recipe)
    first = recipe.variants[0].settings
    cells: dict[int, int] = {}
    for path in dict.fromkeys((*SETTINGS, *first.written(), *differing, *changed)):
        written = recipe.setting(path) if path in differing else first.get(path) or Setting(path, UNKNOWN)
        after = run.setting(path) if path in changed else None
        if after is not None and not differs(written.value, after.value):
            after = None
        if after is None and _says_nothing(path, written, path in differing):
            continue
        cells[paths.number(path)] = cell_of(recipe, written, after, tables, side.at_hand)
    return {
        "name": printable(recipe.label),
        "qualified": printable(recipe.qualified_name),
        "path": printable(recipe.path),
        "line": recipe.line,
        "kind": recipe.kind,
        "folder": printable(os.path.dirname(recipe.path) or "."),
        "family": printable(family_of(recipe.name)),
        "columns": [_column(column, recipe, run) for column in COLUMNS],
        "cells": cells,
        "variants": list(_variants(recipe, differing)),
    }


def _says_nothing(path: str, written: Setting, differs: bool) -> bool:
    """Tell whether a setting needs no line.

    This holds for an unknown setting that no file writes, one at a default that no rule looks at, and a section by
    itself.
    """
    if path in SETTINGS or "." not in path:
        return path not in SETTINGS or (written.origin is None and written.value == UNKNOWN)
    return not differs and (written.origin is None or written.origin.how == "default")


def _usual(rows: Sequence[Mapping[int, int]], settings: int) -> list[int]:
    """Find for every setting the cell that most recipes have; NOTHING if most have none."""
    counts: list[Counter[int]] = [Counter() for _ in range(settings)]
    for row in rows:
        for number, cell in row.items():
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


_FIRST_WORD = re.compile(r"[^\W\d_]+")


def family_of(name: str) -> str:
    """Return the first word of a name, without its number: `llama3_8b_pretrain_config` is of the family `llama`."""
    found = _FIRST_WORD.search(os.path.basename(name))
    return found.group().lower() if found else "other"


Kind = Literal["nobody", "default", "upstream", "helper", "here", "startup"]
"""Where a value comes from: nobody is known to write it; its declared default; upstream's code; another function or
file at hand; the recipe itself, the top level of its file, or its launch; or start-up sets another."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""From the least interesting to the most: of several settings in one column the last counts."""

IsAtHand = Callable[[str], bool]
"""Tells whether a path is one of the files that were read."""


def cell_of(recipe: Recipe, written: Setting, run: Setting | None, tables: Tables, at_hand: IsAtHand) -> int:
    """Return the number of the cell; `run` is the setting after start-up, if that is another."""
    kind: Kind = "startup" if run else kind_of(recipe, written.origin, at_hand)
    origin = tables.origin(written.origin) if written.origin else NOTHING
    unwritten = run is not None and written.origin is None and written.value == UNKNOWN
    row = (NOTHING if unwritten else tables.text(shown(written.value)), KINDS.index(kind), origin)
    return tables.cells.number(row if run is None else (*row, *_replaced(run, tables)))


def _replaced(run: Setting, tables: Tables) -> tuple[int, int, int]:
    """Return the value after start-up, the step of start-up that replaces it, and the place of that step."""
    origin = run.origin
    if origin is None or origin.how != "startup":
        return tables.text(shown(run.value)), NOTHING, NOTHING
    place = tables.place(origin.span, origin.function, origin.upstream)
    return tables.text(shown(run.value)), tables.text(origin.because), place


def kind_of(recipe: Recipe, origin: Origin | None, at_hand: IsAtHand) -> Kind:
    """Classify the place of the text that decides a value."""
    if origin is None:
        return "nobody"
    if origin.how == "default":
        return "default"
    deciding = origin.sources[-1] if origin.sources else origin
    path, function = deciding.span.path, deciding.function
    if path == COMMAND_LINE:
        return "here"
    if path == recipe.path and (recipe.kind != "function" or function in ("", recipe.name)):
        return "here"
    return "helper" if at_hand(path) or not origin.upstream else "upstream"


def shown(value: Value) -> str:
    """Write a value as a person would; `?` if nothing is known."""
    return "?" if value == UNKNOWN else describe(value)


NOTHING = -1
"""Instead of a number, where there is nothing."""

_LONGEST = 120
"""Characters of a value or a line that are worth showing."""


class RowNumbers:
    """Rows, each once, in the order of their first appearance."""

    def __init__(self) -> None:
        self.rows: dict[Hashable, int] = {}

    def number(self, row: Hashable) -> int:
        """Return the number of a row."""
        return self.rows.setdefault(row, len(self.rows))


class Tables:
    """All tables of one side. `lines` gives the lines of files, for the text at a place."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[int, tuple[Origin, int]] = {}
        self._shown: dict[str, int] = {}
        self.texts = RowNumbers()
        self.places = RowNumbers()
        self.origins = RowNumbers()
        self.cells = RowNumbers()

    def text(self, text: str) -> int:
        """Return the number of a text, escaped and clipped for display."""
        number = self._shown.get(text)
        if number is None:
            number = self._shown[text] = self.texts.number(clipped(printable(text), _LONGEST)) if text else NOTHING
        return number

    def whole(self, text: str) -> int:
        """Return the number of a text in its whole length."""
        return self.texts.number(printable(text)) if text else NOTHING

    def place(self, span: Span, function: str = "", release: str | None = None) -> int:
        """Return the number of a place: file, line, function, upstream's release, and the code there."""
        lines = () if release else self._lines(span.path)
        code = lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""
        return self.places.number(
            (self.text(span.path), span.line, self.text(function), self.text(release or ""), self.text(code))
        )

    def origin(self, origin: Origin) -> int:
        """Number an origin: kind, place, sources (the nearest first), earlier write, option that may change it."""
        known = self._known.get(id(origin))
        if known is not None:
            return known[1]
        number = NOTHING
        for each in origin.chain():
            row = (
                self.text(each.how),
                self.place(each.point, each.function, each.upstream),
                tuple(self.place(source.span, source.function) for source in each.sources),
                number,
                self.text(each.option),
            )
            number = self.origins.number(row)
            # Recipes share origins. They are kept, so that their ids stay their own.
            self._known[id(each)] = (each, number)
        return number
