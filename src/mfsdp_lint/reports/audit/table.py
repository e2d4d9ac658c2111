"""For people: a line a recipe under the file it is in; columns that are the same everywhere are one line above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.recipe import Recipe
from mfsdp_lint.reports.audit.columns import COLUMNS, NOT_KNOWN, Column, plain_column
from mfsdp_lint.reports.printable import count, printable, width
from mfsdp_lint.reports.settings import chosen
from mfsdp_lint.upstream.target import Target

WIDTH = 100
"""Characters a line, where no terminal says otherwise."""

_INDENT = "  "
_GAP = "  "
_SHORTEST_NAME = 28
_WIDEST_CELL = 34


def render(recipes: Sequence[Recipe], target: Target, globs: Sequence[str] = (), *, columns: int = WIDTH) -> str:
    """The table, at most `columns` characters wide as far as its cells allow."""
    if not recipes:
        return "no recipes\n"
    chosen_columns = _chosen(recipes, globs) if globs else COLUMNS
    cells = {id(recipe): [_clip(printable(column.of(recipe))) for column in chosen_columns] for recipe in recipes}
    rows = list(cells.values())
    shared = [
        number for number in range(len(chosen_columns)) if len(recipes) > 1 and len({row[number] for row in rows}) == 1
    ]
    shown = [number for number in range(len(chosen_columns)) if number not in shared]
    widths = {
        number: max(width(text) for text in (chosen_columns[number].title, *(row[number] for row in rows)))
        for number in shown
    }
    room = columns - sum(widths.values()) - len(_GAP) * len(shown) - len(_INDENT)
    longest = max(width(printable(recipe.label)) for recipe in recipes)
    name_width = min(longest, max(room, _SHORTEST_NAME))
    lines = [f"{count(len(recipes), 'recipe')}, as configured for {printable(target.label)}"]
    lines += _wrapped("the same in all: ", [f"{chosen_columns[n].title} {rows[0][n]}" for n in shared], columns)
    titles = [(chosen_columns[number].title, widths[number]) for number in shown]
    lines += ["", _line("recipe", name_width, titles)]
    for path, group in groupby(recipes, key=lambda recipe: recipe.path):
        lines.append(printable(path))
        for recipe in group:
            found = [(cells[id(recipe)][number], widths[number]) for number in shown]
            lines.append(_line(_shortened(printable(recipe.label), name_width), name_width, found))
    return "\n".join([*lines, *_legend(rows)]) + "\n"


def _chosen(recipes: Sequence[Recipe], globs: Sequence[str]) -> tuple[Column, ...]:
    return tuple(map(plain_column, sorted({path for recipe in recipes for path in chosen(recipe, globs)})))


def _line(name: str, name_width: int, cells: Sequence[tuple[str, int]]) -> str:
    padded = [name + " " * (name_width - width(name)), *(text + " " * (wide - width(text)) for text, wide in cells)]
    return (_INDENT + _GAP.join(padded)).rstrip()


def _shortened(name: str, room: int) -> str:
    """`llama3_70b_…_gb300_config`: both ends tell recipes apart, the middle rarely does."""
    if width(name) <= room:
        return name
    end = (room - 1) // 2
    return f"{name[: room - 1 - end]}…{name[-end:]}"


def _clip(text: str) -> str:
    return text if width(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"


def _wrapped(head: str, parts: Sequence[str], columns: int) -> Iterator[str]:
    line = head
    for number, part in enumerate(parts):
        text = part + (", " if number + 1 < len(parts) else "")
        if line.strip() and len(line) + len(text.rstrip()) > columns and line != head:
            yield line.rstrip()
            line = " " * len(head)
        line += text
    if parts:
        yield line.rstrip()


def _legend(rows: Sequence[Sequence[str]]) -> list[str]:
    if any(NOT_KNOWN in cell for row in rows for cell in row):
        return ["", f"{NOT_KNOWN} is not known"]
    return []
