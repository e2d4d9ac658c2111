"""Reviewdog's diagnostic format, for comments on any forge, with suggestions. What is suppressed is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.finding import Finding, Fix, Severity
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.wording import WHEN

_SEVERITIES: dict[Severity, str] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(findings: Sequence[Finding], texts: Texts) -> str:
    """Render one document. Columns count bytes of UTF-8, as in reviewdog."""
    shown = (finding for finding in findings if finding.suppressed is None)
    document = {"source": {"name": "mfsdp-lint"}, "diagnostics": [_diagnostic(finding, texts) for finding in shown]}
    return json.dumps(document, indent=2) + "\n"


def _diagnostic(finding: Finding, texts: Texts) -> dict[str, Any]:
    happens = f"\n{WHEN[finding.stage]}: {finding.consequence}" if finding.consequence else ""
    document: dict[str, Any] = {
        "message": finding.message + happens,
        "location": _location(finding.span, texts),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }
    if finding.related:
        document["related_locations"] = [
            {"message": note.message, "location": _location(note.span, texts)} for note in finding.related
        ]
    suggestion = _suggestion(finding, finding.fix, texts) if finding.fix else None
    if suggestion:
        document["suggestions"] = [suggestion]
    return document


def _suggestion(finding: Finding, fix: Fix, texts: Texts) -> dict[str, Any] | None:
    """Make the whole fix one replacement; None if it also edits other files, since half a fix would be wrong."""
    path, text = finding.span.path, texts(finding.span.path)
    if text is None or not fix.edits or any(edit.span.path != path for edit in fix.edits):
        return None
    lines = Lines(text)
    start = min(lines.offset(edit.span.line, edit.span.column) for edit in fix.edits)
    end = max(lines.offset(edit.span.end_line, edit.span.end_column) for edit in fix.edits)
    changed = apply_edits(path, text, fix.edits)
    replaced = changed[start : len(changed) - (len(text) - end)]
    return {"range": _range(lines.span(path, start, end), texts), "text": replaced}


def _location(span: Span, texts: Texts) -> dict[str, Any]:
    return {"path": span.path, "range": _range(span, texts)}


def _range(span: Span, texts: Texts) -> dict[str, Any]:
    text = texts(span.path)
    return {
        "start": {"line": span.line, "column": _byte_column(text, span.line, span.column)},
        "end": {"line": span.end_line, "column": _byte_column(text, span.end_line, span.end_column)},
    }


def _byte_column(text: str | None, line: int, column: int) -> int:
    """Convert a column in characters to bytes of UTF-8; unchanged if the text is not known."""
    lines = split_lines(text) if text is not None else ()
    if line > len(lines):
        return column
    return len(lines[line - 1][: column - 1].encode("utf-8", "surrogateescape")) + 1
