"""The fixes that were made, one a line, and what a run that only fixes comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Applied
from mfsdp_lint.reports.printable import count, printable
from mfsdp_lint.reports.summary import Summary


def lines(fixes: Sequence[Applied], *, done: bool = True) -> str:
    """Describe each fix: `recipes/llama.py:14: fixed MFSDP101 (safe): checkpoint.ckpt_format = "fsdp_dtensor"`."""
    verb = "fixed" if done else "would fix"
    return "".join(
        f"{printable(each.span.path)}:{each.span.line}: {verb} {each.code} ({each.safety}): "
        f"{printable(', '.join(each.changes))}\n"
        for each in fixes
    )


def only(summary: Summary) -> str:
    """Summarise a run that only fixes, without the findings that remain."""
    return f"{count(summary.files, 'file')}: {count(summary.fixed, 'finding')} fixed\n"


def document(fix: Applied) -> dict[str, Any]:
    """Describe one fix for programs."""
    return {
        "code": fix.code,
        "safety": fix.safety,
        "path": fix.span.path,
        "line": fix.span.line,
        "changes": list(fix.changes),
    }
