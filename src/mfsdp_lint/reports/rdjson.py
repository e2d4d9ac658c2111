"""Reviewdog's diagnostic format, for comments on any forge, with suggestions. Suppressed findings are left out."""

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
    shown = [_diagnostic(finding, texts) for finding in findings if finding.suppressed is None]
    document = {"source": {"name": "mfsdp-lint"}, "diagnostics": shown}
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
    lines = split_lines(texts(span.path) or "")

    def place(line: int, column: int) -> dict[str, int]:
        """Convert the column to bytes of UTF-8; it is unchanged if the text is not known."""
        if line <= len(lines):
            column = len(lines[line - 1][: column - 1].encode("utf-8", "surrogateescape")) + 1
        return {"line": line, "column": column}

    return {"start": place(span.line, span.column), "end": place(span.end_line, span.end_column)}
