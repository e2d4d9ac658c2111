"""The memory of a recipe's model state on each rank: for people, as JSON has it, and as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.estimate import LEFT_OUT, Amount, Footprint, Memory, MemoryOf, sources_of
from mfsdp_lint.reports.audit.table import about_recipe, csv_row
from mfsdp_lint.reports.json import attributes
from mfsdp_lint.reports.wording import aligned, count, printable

NOT_KNOWN = "?"
OWN = "*"
COLUMNS = ("parameters", "gradients", "main", "optimizer", "total")
CSV = (
    *("wrapping", "own", "ranks", "model_parameters", "parameters", "gradients", "main_parameters"),
    *("optimizer_states", "total", "why"),
)

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def spelled(size: int | None) -> str:
    """Spell a size: `7.48 GiB`, `14.9 GiB`, `957 MiB`; `?` if it is not known."""
    if size is None:
        return NOT_KNOWN
    value, unit = float(size), 0
    while value >= 1000 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    if not unit:
        return f"{size} B"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {_UNITS[unit]}"


def cells(footprint: Footprint) -> tuple[str, ...]:
    """Return the parts and the total, in the order of COLUMNS."""
    return tuple(spelled(amount.bytes) for amount in (*(each for _, each in footprint.amounts), footprint.total))


def whole(memory: Memory) -> Iterator[str]:
    """Yield the whole report of one recipe: every way of wrapping, the formulas of its own, the sources."""
    yield from said(memory)
    if not memory.footprints:
        yield printable(memory.why)
        return
    yield ""
    own = any(each.runs for each in memory.footprints)
    wrapped = [(f"{(OWN * each.runs).ljust(own)} {each.label}", *cells(each)) for each in memory.footprints]
    yield from aligned([("", *COLUMNS), *wrapped], right=range(1, len(COLUMNS) + 1))
    yield from _not_known(memory.footprints)
    shown = memory.own or memory.footprints[0]
    yield ""
    if memory.own_why:
        yield f"how the recipe itself is wrapped is not known: {printable(memory.own_why)}"
    yield f"{shown.label}, bytes on a rank"
    yield from aligned([(f" {name}", formula(amount)) for name, amount in shown.amounts])
    yield ""
    yield "read in"
    for source in memory.sources:
        yield f"  {source.says}: {source.place}"
    yield f"of {memory.sources[0].release}" if memory.sources else ""
    yield f"left out: {'; '.join(memory.left_out)}"


def said(memory: Memory) -> Iterator[str]:
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


def _not_known(footprints: Sequence[Footprint]) -> Iterator[str]:
    """Yield each reason for unknown sizes once, with the ways of wrapping that it concerns unless these are all."""
    reasons: dict[str, list[str]] = {}
    for each in footprints:
        for _, amount in each.amounts:
            if amount.why and each.label not in reasons.setdefault(amount.why, []):
                reasons[amount.why].append(each.label)
    if reasons:
        yield ""
    for why, labels in reasons.items():
        about = "" if len(labels) == len(footprints) else f" ({'; '.join(labels)})"
        yield f"{NOT_KNOWN} {printable(why)}{about}"


def document(memory: Memory) -> dict[str, Any]:
    """Describe one recipe as JSON, without the data of `about`: unknown bytes are None, and `why` has the reason."""
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
            for each in memory.footprints
        ],
    }


def about(target: Target) -> dict[str, Any]:
    """Describe the data common to all recipes: the sources of the formulas, and their omissions."""
    return {
        "sources": [attributes(each, "says", "place", "release") for each in sources_of(target)],
        "left_out": list(LEFT_OUT),
    }


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
    for recipe, memory in zip(recipes, memories, strict=True):
        own = memory.own
        unknown = f"{NOT_KNOWN} {printable(memory.why or memory.own_why)}"
        table.append((printable(recipe.label), *((unknown,) if own is None else (own.label, *cells(own)))))
    head, *lines = aligned(table, right=range(2, len(table[0])))
    yield f"  {head}"
    for path, group in groupby(zip(recipes, lines, strict=True), key=lambda each: each[0].path):
        yield printable(path)
        yield from (f"  {line}" for _, line in group)
    yield ""
    yield "asked for alone (PATH::RECIPE), a recipe shows every way of wrapping it, with formulas and their sources"


def csv_lines(recipes: Sequence[Recipe], memory_of: MemoryOf) -> Iterator[str]:
    """Yield a row for each recipe and way of wrapping, in bytes; unknown sizes are `?`."""
    yield csv_row(["recipe", "path", "line", "kind", *CSV])
    for recipe in recipes:
        yield from (csv_row([*about_recipe(recipe), *each]) for each in _rows(memory_of(recipe)))


def _rows(memory: Memory) -> Iterator[list[str]]:
    """Yield a row for each way of wrapping, in the columns of CSV; one row with the reason if nothing is known."""
    ranks = "" if memory.ranks is None else str(memory.ranks)
    total = "" if memory.count is None else str(memory.count.total)
    for each in memory.footprints:
        sizes = [amount.bytes for amount in (*(part for _, part in each.amounts), each.total)]
        spelled = (NOT_KNOWN if size is None else str(size) for size in sizes)
        yield [each.key, "yes" if each.runs else "no", ranks, total, *spelled, each.total.why]
    if not memory.footprints:
        yield ["", "", ranks, total, *[NOT_KNOWN] * 5, memory.why]
