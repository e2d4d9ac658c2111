"""Tables of settings and of memory: for people, a line a recipe under its file; for spreadsheets (CSV), rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe
from mfsdp_lint.core.values import Value, possible, spell
from mfsdp_lint.megatron.startup.resolve import will_run
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.memory.estimate import Amount, Footprint, Memory, MemoryOf
from mfsdp_lint.reports.audit.columns import CHANGEABLE, COLUMNS, NOT_KNOWN, OFF, RUNS, Column, chosen, plain_column
from mfsdp_lint.reports.json import json_value
from mfsdp_lint.reports.wording import aligned, count, folded, printable, width

WIDTH = 100
"""Characters a line, where no terminal says otherwise."""

_INDENT = "  "
_GAP = "  "
_SHORTEST_NAME = 28
_WIDEST_CELL = 34


def render(
    recipes: Sequence[Recipe], target: Target, globs: Sequence[str] = (), *, columns: int = WIDTH, fold: int = 0
) -> str:
    """Render the table, at most `columns` characters wide as far as its cells allow; `globs` choose settings as
    columns. Lines beside the table are broken at `fold` columns, if it is not 0.

    Chosen settings that are too many for this width are listed below each other, with the place where each was
    written.
    """
    if not recipes:
        return "no recipes\n"
    head = folded(f"{count(len(recipes), 'recipe')}, as configured for {printable(target.label)}", fold)
    lines = list(head)
    runs = [will_run(recipe, target) for recipe in recipes]
    paths = sorted({path for recipe in recipes for path in chosen(recipe, globs)}) if globs else ()
    asked = tuple(map(plain_column, paths)) if globs else COLUMNS
    table = _Table(recipes, runs, asked)
    if globs and (len(recipes) == 1 or table.needs + _SHORTEST_NAME > columns):
        for recipe, run in zip(recipes, runs, strict=True):
            lines += ["", f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})"]
            settings = []
            for path in chosen(recipe, globs):
                cell = plain_column(path).both(recipe, run)
                places = [_place(each.setting(path).origin) for each in ((recipe, run) if RUNS in cell else (recipe,))]
                settings.append([path, _clip(printable(cell)), f" {RUNS} ".join(filter(None, places))])
            rows = [[_INDENT + line] for line in aligned(settings)]
            if (
                fold and max((width(line) for (line,) in rows), default=0) > fold
            ):  # then the places take lines of their own
                values = aligned([[path, cell] for path, cell, _ in settings])
                rows = [
                    [_INDENT + line, 3 * _INDENT + place] for line, (*_, place) in zip(values, settings, strict=True)
                ]
            for line in (line for row in rows for line in row if line.strip()):
                lines += folded(line, fold, line[: len(line) - len(line.lstrip())] + _INDENT)
    else:
        lines += table.lines(columns)
    meanings = {
        OFF: "is off or None",
        NOT_KNOWN: "is not known",
        RUNS: "is what will run",
        CHANGEABLE: "may be changed from the command line",
    }
    shown = "\n".join(lines[len(head) :])
    legend = ", ".join(f"{mark} {meaning}" for mark, meaning in meanings.items() if mark in shown)
    below = [*(["", legend] if legend else []), *_obstacles(recipes, asked)]
    return "\n".join([*lines, *(part for line in below for part in folded(line, fold, _INDENT))]) + "\n"


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
        fits = 2 * len(_INDENT) + self.needs - len(_GAP) <= columns
        rows = zip(self.recipes, self.names, self.rows, strict=True)
        if not apart:
            yield _line(["recipe", *self.titles], [name_width, *self.widths])
        elif fits:
            yield _INDENT + "recipe"
            yield _INDENT + _line(self.titles, self.widths)
        for path, group in groupby(rows, key=lambda row: row[0].path):
            yield printable(path)
            for _, name, cells in group:
                shown = name
                if width(name) > name_width:  # its ends distinguish recipes, the middle rarely does
                    end = (name_width - 1) // 2
                    shown = f"{name[: name_width - 1 - end]}…{name[-end:]}"
                if not apart:
                    yield _line([shown, *cells], [name_width, *self.widths])
                    continue
                yield _INDENT + shown
                if fits:
                    yield _INDENT + _line(cells, self.widths)
                else:  # a table would be broken: each cell with its title
                    titled = [f"{title} {cell}" for title, cell in zip(self.titles, cells, strict=True)]
                    yield from _wrapped(2 * _INDENT, titled, columns)


def _place(origin: Origin | None) -> str:
    if origin is None:
        return ""
    if origin.how == "startup":
        return f"start-up, {origin.upstream} {printable(origin.span.path)}:{origin.span.line}"
    place = f"{printable(origin.point.path)}:{origin.point.line}"
    return f"default, {place}" if origin.how == "default" else place


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    clipped = [_clip(text, wide) for text, wide in zip(cells, widths, strict=True)]
    padded = [text + " " * (wide - width(text)) for text, wide in zip(clipped, widths, strict=True)]
    return (_INDENT + _GAP.join(padded)).rstrip()


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


_BEHIND_COLUMNS = dict.fromkeys(path for column in COLUMNS for path in column.settings)


def csv_lines(recipes: Sequence[Recipe], globs: Sequence[str] = ()) -> Iterator[str]:
    """Yield the rows as text, the header first. One of several values is `a|b`, unknown is `?`, None is empty."""
    paths = sorted({path for recipe in recipes for path in chosen(recipe, globs)}) if globs else _BEHIND_COLUMNS
    yield _csv_row(["recipe", "path", "line", "kind", *paths])
    for recipe in recipes:
        values = [_csv_cell(recipe.setting(path).value) for path in paths]
        yield _csv_row([*_about_recipe(recipe), *values])


def _csv_cell(value: Value) -> str:
    """Write a value in a cell."""
    options = possible(value)
    if options is None:
        return "set" if value.state == "set" else NOT_KNOWN
    return "|".join(
        each if isinstance(each, str) else "" if each is None else json.dumps(json_value(each)) for each in options
    )


def _about_recipe(recipe: Recipe) -> list[str]:
    """Return the first four cells of a row."""
    return [recipe.label, recipe.path, str(recipe.line), recipe.kind]


def _csv_row(cells: Sequence[str]) -> str:
    """Write a line of cells; one that a spreadsheet would run as a formula is quoted.

    Numbers and dashes are safe. The text is escaped, since a recipe is a line.
    """
    inert = (f"'{printable(cell)}" if cell[:1] in ("=", "+", "@", "\t", "\r") else printable(cell) for cell in cells)
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(inert)
    return line.getvalue()


# -- memory --------------------------------------------------------------------------------------------------------

OWN = "*"
PARTS = ("parameters", "gradients", "main", "optimizer", "total", "in all")
_MEMORY_CSV = (
    *("wrapping", "own", "ranks", "model_parameters", "parameters", "gradients", "main_parameters"),
    *("optimizer_states", "total", "why", "gathered", "activations", "in_all", "fit", "fit_why"),
)
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size: int | None) -> str:
    """Spell a size: `7.48 GiB`, `14.9 GiB`, `957 MiB`; `?` if it is not known."""
    if size is None:
        return NOT_KNOWN
    value, unit = float(size), 0
    while value >= 1000 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    if not unit:
        return f"{size} B"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {_UNITS[unit]}"


def size_cells(footprint: Footprint) -> tuple[str, ...]:
    """Return the parts, the total of model state, and that with what is gathered and activations, as in PARTS."""
    amounts = (*(each for _, each in footprint.amounts), footprint.total, footprint.needed)
    return tuple(size_text(amount.bytes) for amount in amounts)


def parts_of(footprint: Footprint) -> tuple[tuple[str, Amount], ...]:
    """Return everything that is estimated, by name."""
    besides = (("gathered for a while", footprint.gathered), ("activations", footprint.activations))
    return (*footprint.amounts, *besides)


def parameters_and_ranks(memory: Memory) -> Iterator[str]:
    """Yield the number of parameters, and the ranks that share them."""
    if memory.count is not None:
        yield from memory.count.formula
    if memory.ranks is None:
        yield "the number of ranks is not known (--world-size)"
    elif memory.shards is not None:
        among = f"dense weights are shared by {count(memory.shards, 'rank')}"
        if memory.count is not None and memory.count.experts:
            among += f", experts by {memory.expert_shards}"
        yield f"{count(memory.ranks, 'rank')}: {among}"


def formula(amount: Amount) -> str:
    """Write the formula of a part and its value; for an unknown part, the reason."""
    return f"not known: {printable(amount.why)}" if amount.bytes is None else f"{amount.formula} = {amount.bytes:,}"


def memory_table(recipes: Sequence[Recipe], target: Target, memory_of: MemoryOf) -> str:
    """Show the memory of one recipe in full; several recipes a line each, with their own way of wrapping."""
    if not recipes:
        return "no recipes\n"
    lines = [f"{count(len(recipes), 'recipe')}, memory on each rank, for {printable(target.label)}", ""]
    if len(recipes) == 1:
        (recipe,) = recipes
        lines += [f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})"]
        return "\n".join([*lines, *_whole_memory(memory_of(recipe))]) + "\n"
    asked = [memory_of(recipe) for recipe in recipes]
    fits = ("fit",) if any(memory.fit for memory in asked) else ()
    table: list[tuple[str, ...]] = [("recipe", "wrapped as", *PARTS, *fits)]
    for recipe, memory in zip(recipes, asked, strict=True):
        unknown = f"{NOT_KNOWN} {printable(memory.why or memory.own_why)}"
        fit = (memory.fit.fit,) if memory.fit else ()
        cells = (memory.own.label, *size_cells(memory.own), *fit) if memory.own else (unknown,)
        table.append((printable(recipe.label), *cells))
    head, *rows = aligned(table, right=range(2, 2 + len(PARTS)))
    lines.append(_INDENT + head)
    for path, group in groupby(zip(recipes, rows, strict=True), key=lambda each: each[0].path):
        lines += [printable(path), *(_INDENT + row for _, row in group)]
    alone = "asked for alone (PATH::RECIPE), a recipe shows every way of wrapping it, with formulas and their sources"
    return "\n".join([*lines, "", alone]) + "\n"


def _whole_memory(memory: Memory) -> Iterator[str]:
    """Yield the report of one recipe: every way of wrapping, the reasons for unknown sizes, formulas, sources."""
    yield from parameters_and_ranks(memory)
    if not memory.footprints:
        yield printable(memory.why)
        return
    yield ""
    own = any(each.runs for each in memory.footprints)
    wrapped = [(f"{(OWN * each.runs).ljust(own)} {each.label}", *size_cells(each)) for each in memory.footprints]
    yield from aligned([("", *PARTS), *wrapped], right=range(1, len(PARTS) + 1))
    reasons: dict[str, dict[str, None]] = {}
    for each in memory.footprints:
        for amount in (*(part for _, part in each.amounts), each.gathered, each.activations):
            if amount.why:
                reasons.setdefault(amount.why, {})[each.label] = None
    if reasons:
        yield ""
    for why, labels in reasons.items():
        about = "" if len(labels) == len(memory.footprints) else f" ({'; '.join(labels)})"
        yield f"{NOT_KNOWN} {printable(why)}{about}"
    shown = memory.own or memory.footprints[0]
    yield ""
    if memory.own_why:
        yield f"how the recipe itself is wrapped is not known: {printable(memory.own_why)}"
    yield f"{shown.label}, bytes on a rank"
    yield from aligned([(f" {name}", formula(amount)) for name, amount in parts_of(shown)])
    if memory.fit is not None:
        yield from ("", *fit_lines(memory))
    yield from ("", "read in", *(f"  {source.says}: {source.place}" for source in memory.sources))
    yield f"of {memory.sources[0].release}" if memory.sources else ""
    yield f"left out: {'; '.join(memory.left_out)}"


def fit_lines(memory: Memory) -> Iterator[str]:
    """Yield whether the recipe fits, and what would make it fit; nothing if that was not asked."""
    answer = memory.fit
    if answer is None:
        return
    yield f"{printable(answer.limit.label)}: {answer.fit} ({printable(answer.why)})"
    for proposal in answer.proposals:
        changes = ", ".join(f"{path} = {spell(value)}" for path, value in proposal.changes)
        yield f"  {proposal.fit} with {printable(changes)} ({size_text(proposal.bytes)})"
    if answer.fit in ("close", "does not fit") and not answer.proposals:
        yield "  no change of sharding, recomputation, micro-batch or parallel sizes is known to make it fit"


def memory_csv(recipes: Sequence[Recipe], memory_of: MemoryOf) -> Iterator[str]:
    """Yield a row for each recipe and way of wrapping, in bytes; one with the reason if nothing is known.

    Unknown sizes are `?`.
    """
    yield _csv_row(["recipe", "path", "line", "kind", *_MEMORY_CSV])
    for recipe in recipes:
        memory = memory_of(recipe)
        about = _about_recipe(recipe)
        ranks = "" if memory.ranks is None else str(memory.ranks)
        total = "" if memory.count is None else str(memory.count.total)
        for each in memory.footprints:
            amounts = [*(part for _, part in each.amounts), each.total]
            sizes = (NOT_KNOWN if amount.bytes is None else str(amount.bytes) for amount in amounts)
            own = "yes" if each.runs else "no"
            besides = (each.gathered, each.activations, each.needed)
            more = (NOT_KNOWN if amount.bytes is None else str(amount.bytes) for amount in besides)
            fit = (memory.fit.fit, memory.fit.why) if memory.fit and each.runs else ("", "")
            yield _csv_row([*about, each.key, own, ranks, total, *sizes, each.total.why, *more, *fit])
        if not memory.footprints:
            fit = (memory.fit.fit, memory.fit.why) if memory.fit else ("", "")
            yield _csv_row([*about, "", "", ranks, total, *[NOT_KNOWN] * 5, memory.why, *[NOT_KNOWN] * 3, *fit])
