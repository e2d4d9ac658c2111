"""What a recipe's model state costs on each rank, as data for the page."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.memory.result import Memory
from mfsdp_lint.reports.audit.page.tables import Tables
from mfsdp_lint.reports.memory import cells, formula, said


def memory_document(memory: Memory, tables: Tables) -> dict[str, Any]:
    """Numbers of texts: each way of wrapping with its sizes, and of the recipe's own (or the first) the formulas."""
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
