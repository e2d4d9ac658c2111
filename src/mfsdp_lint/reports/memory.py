"""The memory of a recipe's model state: for people, as JSON has it, and as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.result import LEFT_OUT, Amount, Footprint, Memory, sources_of
from mfsdp_lint.reports.printable import count, printable, width

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
    yield from _aligned(
        [("", "", *COLUMNS), *((OWN * each.runs, each.label, *cells(each)) for each in memory.footprints)]
    )
    yield from _not_known(memory.footprints)
    shown = memory.own or memory.footprints[0]
    yield ""
    if memory.own_why:
        yield f"how the recipe itself is wrapped is not known: {printable(memory.own_why)}"
    yield f"{shown.label}, bytes on a rank"
    yield from _aligned([("", name, formula(amount)) for name, amount in shown.amounts])
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


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align columns: the first two to the left, numbers to the right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        left = [text + " " * (wide - width(text)) for text, wide in zip(row[:2], widths, strict=False)]
        right = [text.rjust(wide) for text, wide in zip(row[2:], widths[2:], strict=True)]
        numbers = "  ".join(right) if len(row) > 3 else "".join(row[2:])
        yield f"{left[0]} {left[1]}  {numbers}".rstrip()


def document(memory: Memory) -> dict[str, Any]:
    """Describe one recipe as JSON, without the data of `about`: unknown bytes are None, and `why` has the reason."""
    return {
        "ranks": memory.ranks,
        "shards": memory.shards,
        "expert_shards": memory.expert_shards,
        "parameters": None
        if memory.count is None
        else {
            "total": memory.count.total,
            "dense_on_rank": memory.count.dense,
            "experts_on_rank": memory.count.experts,
            "formula": list(memory.count.formula),
        },
        "why": memory.why,
        "own_why": memory.own_why,
        "wrapped": [_footprint(each) for each in memory.footprints],
    }


def about(target: Target) -> dict[str, Any]:
    """Describe the data common to all recipes: the sources of the formulas, and what they leave out."""
    return {
        "sources": [{"says": each.says, "place": each.place, "release": each.release} for each in sources_of(target)],
        "left_out": list(LEFT_OUT),
    }


def _footprint(footprint: Footprint) -> dict[str, Any]:
    parts = {name.replace(" ", "_"): _amount(amount) for name, amount in footprint.amounts}
    total = {"bytes": footprint.total.bytes, "why": footprint.total.why}
    return {"as": footprint.key, "label": footprint.label, "own": footprint.runs, **parts, "total": total}


def _amount(amount: Amount) -> dict[str, Any]:
    return {"bytes": amount.bytes, "formula": amount.formula, "why": amount.why}


def rows(memory: Memory) -> Iterator[list[str]]:
    """Yield a row for each way of wrapping, in the columns of CSV; one row with the reason if nothing is known."""
    ranks = "" if memory.ranks is None else str(memory.ranks)
    total = "" if memory.count is None else str(memory.count.total)
    for each in memory.footprints:
        sizes = [amount.bytes for amount in (*(part for _, part in each.amounts), each.total)]
        own = "yes" if each.runs else "no"
        yield [
            each.key,
            own,
            ranks,
            total,
            *(NOT_KNOWN if size is None else str(size) for size in sizes),
            each.total.why,
        ]
    if not memory.footprints:
        yield ["", "", ranks, total, *[NOT_KNOWN] * 5, memory.why]
