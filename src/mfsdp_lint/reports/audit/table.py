"""Tables of settings: for people, a line a recipe under its file; for spreadsheets (CSV), a recipe a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe
from mfsdp_lint.core.values import Known, OneOf, Plain, Value, possible
from mfsdp_lint.megatron.startup.resolve import will_run
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.audit.columns import CHANGEABLE, COLUMNS, NOT_KNOWN, OFF, RUNS, Column, chosen, plain_column
from mfsdp_lint.reports.json import json_value
from mfsdp_lint.reports.wording import aligned, count, printable, width

WIDTH = 100
"""Characters a line, where no terminal says otherwise."""

_INDENT = "  "
_GAP = "  "
_SHORTEST_NAME = 28
_WIDEST_CELL = 34
_NARROWEST = 10


def render(recipes: Sequence[Recipe], target: Target, globs: Sequence[str] = (), *, columns: int = WIDTH) -> str:
    """Render the table, at most `columns` characters wide as far as its cells allow; `globs` choose settings as
    columns.

    Chosen settings that are too many for this width are listed below each other, with the place where each was
    written.
    """
    if not recipes:
        return "no recipes\n"
    lines = [f"{count(len(recipes), 'recipe')}, as configured for {printable(target.label)}"]
    runs = [will_run(recipe, target) for recipe in recipes]
    paths = sorted({path for recipe in recipes for path in chosen(recipe, globs)}) if globs else ()
    asked = tuple(map(plain_column, paths)) if globs else COLUMNS
    table = _Table(recipes, runs, asked)
    if globs and (len(recipes) == 1 or table.needs + _SHORTEST_NAME > columns):
        lines += _lists(recipes, runs, globs)
    else:
        lines += table.lines(columns)
    return "\n".join([*lines, *_legend(lines[1:]), *_obstacles(recipes, asked)]) + "\n"


class _Table:
    """Cells as text: `shared` are title and cell of the columns that are the same in all recipes.

    `needs` is the width of the other columns, gaps included, without the names.
    """

    def __init__(self, recipes: Sequence[Recipe], runs: Sequence[Recipe], columns: Sequence[Column]) -> None:
        both = list(zip(recipes, runs, strict=True))
        rows = [[_clip(printable(column.both(recipe, run))) for column in columns] for recipe, run in both]
        same = [len(recipes) > 1 and len(set(cells)) == 1 for cells in zip(*rows, strict=True)]
        self.recipes = recipes
        self.names = [printable(recipe.label) for recipe in recipes]
        self.shared = [
            f"{column.title} {cell}" for column, cell, one in zip(columns, rows[0], same, strict=True) if one
        ]
        self.titles = [column.title for column, one in zip(columns, same, strict=True) if not one]
        self.rows = [[cell for cell, one in zip(row, same, strict=True) if not one] for row in rows]
        self.widths = [max(map(width, column)) for column in zip(self.titles, *self.rows, strict=True)]
        self.needs = sum(self.widths) + len(_GAP) * len(self.titles)

    def lines(self, columns: int) -> Iterator[str]:
        yield from _wrapped("the same in all: ", self.shared, columns)
        yield ""
        longest = max(len("recipe"), *map(width, self.names))
        room = columns - len(_INDENT) - self.needs
        apart = room < min(longest, _SHORTEST_NAME)
        name_width = columns - len(_INDENT) if apart else min(longest, room)
        widths = _fitted(self.titles, self.widths, columns - 2 * len(_INDENT)) if apart else self.widths
        rows = zip(self.recipes, self.names, self.rows, strict=True)
        yield _INDENT + "recipe" if apart else _line(["recipe", *self.titles], [name_width, *widths])
        if apart:
            yield _INDENT + _line(self.titles, widths)
        for path, group in groupby(rows, key=lambda row: row[0].path):
            yield printable(path)
            for _, name, cells in group:
                shown = _shortened(name, name_width)
                if apart:
                    yield _INDENT + shown
                    yield _INDENT + _line(cells, widths)
                else:
                    yield _line([shown, *cells], [name_width, *widths])


def _lists(recipes: Sequence[Recipe], runs: Sequence[Recipe], globs: Sequence[str]) -> Iterator[str]:
    for recipe, run in zip(recipes, runs, strict=True):
        yield ""
        yield f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})"
        cells = [_cells(path, recipe, run) for path in chosen(recipe, globs)]
        yield from (_INDENT + line for line in aligned(cells))


def _cells(path: str, recipe: Recipe, run: Recipe) -> list[str]:
    """Return a setting, its value, and its place; if start-up changes it, that place as well."""
    cell = plain_column(path).both(recipe, run)
    places = [_place(recipe.setting(path).origin)] + ([_place(run.setting(path).origin)] if RUNS in cell else [])
    return [path, _clip(printable(cell)), f" {RUNS} ".join(place for place in places if place)]


def _place(origin: Origin | None) -> str:
    if origin is None:
        return ""
    if origin.how == "startup":
        return f"start-up, {origin.upstream} {printable(origin.span.path)}:{origin.span.line}"
    place = f"{printable(origin.point.path)}:{origin.point.line}"
    return f"default, {place}" if origin.how == "default" else place


def _fitted(titles: Sequence[str], widths: Sequence[int], room: int) -> list[int]:
    """Cut the widths from the last column on until all fit: the first columns are the most useful ones."""
    fitted = list(widths)
    excess = sum(fitted) + len(_GAP) * (len(fitted) - 1) - room
    for number in reversed(range(len(fitted))):
        cut = min(excess, fitted[number] - max(len(titles[number]), _NARROWEST))
        if cut > 0:
            fitted[number] -= cut
            excess -= cut
    return fitted


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    clipped = [_clip(text, wide) for text, wide in zip(cells, widths, strict=True)]
    padded = [text + " " * (wide - width(text)) for text, wide in zip(clipped, widths, strict=True)]
    return (_INDENT + _GAP.join(padded)).rstrip()


def _shortened(name: str, room: int) -> str:
    """Shorten a name to `llama3_70b_…_gb300_config`: its ends distinguish recipes, the middle rarely does."""
    if width(name) <= room:
        return name
    end = (room - 1) // 2
    return f"{name[: room - 1 - end]}…{name[-end:]}"


def _clip(text: str, room: int = _WIDEST_CELL) -> str:
    return text if width(text) <= room else text[: room - 1] + "…"


def _wrapped(head: str, parts: Sequence[str], columns: int) -> Iterator[str]:
    line, empty = head, True
    for number, part in enumerate(parts):
        text = part + ("," if number + 1 < len(parts) else "")
        if not empty and width(line) + 1 + width(text) > columns:
            yield line
            line, empty = " " * len(head), True
        line += text if empty else f" {text}"
        empty = False
    if parts:
        yield line


def _legend(lines: Sequence[str]) -> list[str]:
    text = "\n".join(lines)
    meanings = {
        OFF: "is off or None",
        NOT_KNOWN: "is not known",
        RUNS: "is what will run",
        CHANGEABLE: "may be changed from the command line",
    }
    found = [f"{mark} {meaning}" for mark, meaning in meanings.items() if mark in text]
    return ["", ", ".join(found)] if found else []


def _obstacles(recipes: Sequence[Recipe], columns: Sequence[Column]) -> Iterator[str]:
    """Say of each piece of code that is not followed which of the columns' settings it keeps from being known."""
    found: dict[Obstacle, dict[str, None]] = {}
    paths = dict.fromkeys(path for column in columns for path in column.settings)
    for variant in (variant for recipe in recipes for variant in recipe.variants):
        for path in paths:
            obstacle = variant.settings.obstacle(path)
            if obstacle is not None and possible(variant.value(path)) is None:
                found.setdefault(obstacle, {})[path] = None
    for obstacle, settings in found.items():
        yield f"{NOT_KNOWN} {', '.join(settings)}: {printable(obstacle.reason())}"


DEFAULT = tuple(dict.fromkeys(path for column in COLUMNS for path in column.settings))
"""The settings behind the table."""


def csv_lines(recipes: Sequence[Recipe], globs: Sequence[str] = ()) -> Iterator[str]:
    """Yield the rows as text, the header first. One of several values is `a|b`, unknown is `?`, None is empty."""
    paths = sorted({path for recipe in recipes for path in chosen(recipe, globs)}) if globs else DEFAULT
    yield csv_row(["recipe", "path", "line", "kind", *paths])
    for recipe in recipes:
        values = [_text(recipe.setting(path).value) for path in paths]
        yield csv_row([*about_recipe(recipe), *values])


def about_recipe(recipe: Recipe) -> list[str]:
    """Return the first four cells of a row."""
    return [recipe.label, recipe.path, str(recipe.line), recipe.kind]


def csv_row(cells: Sequence[str]) -> str:
    """Write a line of cells, none of which a spreadsheet runs."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(_inert, cells))
    return line.getvalue()


def _inert(cell: str) -> str:
    """Quote a cell that a spreadsheet would run as a formula.

    Numbers and dashes are safe. The text is escaped, since a recipe is a line.
    """
    return f"'{printable(cell)}" if cell[:1] in ("=", "+", "@", "\t", "\r") else printable(cell)


def _text(value: Value) -> str:
    match value:
        case Known(known):
            return _plain(known)
        case OneOf(values):
            return "|".join(map(_plain, values))
        case _:
            return "set" if value.state == "set" else "?"


def _plain(value: Plain) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(json_value(value))
