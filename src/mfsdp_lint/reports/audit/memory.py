"""The audit's formats with `--memory`: what model state costs on each rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.result import Memory, MemoryOf
from mfsdp_lint.reports.audit.csv import row
from mfsdp_lint.reports.memory import COLUMNS, CSV, NOT_KNOWN, cells, rows, whole
from mfsdp_lint.reports.printable import count, printable, width


def table(recipes: Sequence[Recipe], target: Target, memory_of: MemoryOf) -> str:
    """Show one recipe in full; several recipes a line each, with their own way of wrapping."""
    if not recipes:
        return "no recipes\n"
    lines = [f"{count(len(recipes), 'recipe')}, model state on each rank, for {printable(target.label)}", ""]
    if len(recipes) == 1:
        recipe = recipes[0]
        lines += [f"{printable(recipe.label)} ({printable(recipe.path)}:{recipe.line})", *whole(memory_of(recipe))]
    else:
        lines += _lines(recipes, [memory_of(recipe) for recipe in recipes])
    return "\n".join(lines) + "\n"


def _lines(recipes: Sequence[Recipe], memories: Sequence[Memory]) -> Iterator[str]:
    table: list[tuple[str, ...]] = [("recipe", "wrapped as", *COLUMNS)]
    table += [(printable(recipe.label), *_own(memory)) for recipe, memory in zip(recipes, memories, strict=True)]
    head, *aligned = _aligned(table)
    yield f"  {head}".rstrip()
    for path, group in groupby(zip(recipes, aligned, strict=True), key=lambda each: each[0].path):
        yield printable(path)
        for _, line in group:
            yield f"  {line}".rstrip()
    yield ""
    yield "asked for alone (PATH::RECIPE), a recipe shows every way of wrapping it, with formulas and their sources"


def _own(memory: Memory) -> tuple[str, ...]:
    """Return the cells of a recipe's own wrapping; one cell with the reason if that, or its size, is not known."""
    if memory.own is None:
        return (f"{NOT_KNOWN} {printable(memory.why or memory.own_why)}",)
    return (memory.own.label, *cells(memory.own))


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align columns: text to the left, numbers to the right. A row that ends early may be wider than its column."""
    full = [each for each in table if len(each) == len(table[0])]
    first = max(width(each[0]) for each in table)
    widths = [first, *(max(map(width, column)) for column in zip(*(each[1:] for each in full), strict=True))]
    for each in table:
        left = [text + " " * (wide - width(text)) for text, wide in zip(each[:2], widths, strict=False)]
        yield "  ".join([*left, *(text.rjust(wide) for text, wide in zip(each[2:], widths[2:], strict=False))])


def csv(recipes: Sequence[Recipe], memory_of: MemoryOf) -> Iterator[str]:
    """Yield a row for each recipe and way of wrapping, in bytes; unknown sizes are `?`."""
    yield row(["recipe", "path", "line", "kind", *CSV])
    for recipe in recipes:
        for each in rows(memory_of(recipe)):
            yield row([recipe.label, recipe.path, str(recipe.line), recipe.kind, *each])
