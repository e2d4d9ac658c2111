"""For spreadsheets: a recipe a row, a setting a column. Text stands without quotes, lists as JSON has them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, OneOf, Plain, Value
from mfsdp_lint.reports.audit.columns import COLUMNS
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.settings import chosen, json_value

DEFAULT = tuple(dict.fromkeys(path for column in COLUMNS for path in column.settings))
"""The settings behind the table."""


def render(recipes: Sequence[Recipe], globs: Sequence[str] = ()) -> Iterator[str]:
    """Yield the rows as text, the header first. One of several values is `a|b`, unknown is `?`, None is empty."""
    paths = sorted({path for recipe in recipes for path in chosen(recipe, globs)}) if globs else DEFAULT
    yield row(["recipe", "path", "line", "kind", *paths])
    for recipe in recipes:
        values = [_text(recipe.setting(path).value) for path in paths]
        yield row([recipe.label, recipe.path, str(recipe.line), recipe.kind, *values])


def row(cells: Sequence[str]) -> str:
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
