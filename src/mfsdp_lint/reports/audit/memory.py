"""The audit's formats with `--memory`: what model state costs on each rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.memory.result import Memory
from mfsdp_lint.reports.audit.csv import row
from mfsdp_lint.reports.memory import COLUMNS, CSV, NOT_KNOWN, cells, rows, whole
from mfsdp_lint.results.printable import count, printable, width
from mfsdp_lint.versions.target import Target

MemoryOf = Callable[[Recipe], Memory]
"""What the memory of a recipe comes to."""


def table(recipes: Sequence[Recipe], target: Target, memory_of: MemoryOf) -> str:
    """One recipe in full; of several a line each, as they are wrapped themselves."""
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
    aligned = iter(list(_aligned(table)))
    yield f"  {next(aligned)}"
    for path, group in groupby(zip(recipes, memories, strict=True), key=lambda each: each[0].path):
        yield printable(path)
        for _ in group:
            yield f"  {next(aligned)}"
    yield ""
    if any(NOT_KNOWN in row[1:] for row in table):
        yield f"{NOT_KNOWN} is not known; asked for alone (PATH::RECIPE), a recipe says why"
    yield "asked for alone, a recipe shows every way of wrapping it, with formulas and their sources"


def _own(memory: Memory) -> tuple[str, ...]:
    own = memory.own
    return (NOT_KNOWN, *[NOT_KNOWN] * len(COLUMNS)) if own is None else (own.label, *cells(own))


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    for first, second, *numbers in table:
        left = [text + " " * (wide - width(text)) for text, wide in zip((first, second), widths[:2], strict=True)]
        yield "  ".join([*left, *(text.rjust(wide) for text, wide in zip(numbers, widths[2:], strict=True))])


def csv(recipes: Sequence[Recipe], memory_of: MemoryOf) -> Iterator[str]:
    """A recipe wrapped in one way a row, in bytes; what is not known is `?`."""
    yield row(["recipe", "path", "line", "kind", *CSV])
    for recipe in recipes:
        for each in rows(memory_of(recipe)):
            yield row([recipe.label, recipe.path, str(recipe.line), recipe.kind, *each])
