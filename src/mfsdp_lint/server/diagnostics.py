"""Findings as an editor shows them, and their fixes as it offers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lsprotocol import types

from mfsdp_lint.core.finding import Edit, Finding, Severity
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.full import WHEN
from mfsdp_lint.rules.about_files import UNUSED_COMMENT
from mfsdp_lint.server.documents import Checked
from mfsdp_lint.server.positions import range_of

UriOf = Callable[[str], str]

SOURCE = "mfsdp-lint"

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostics(checked: Checked, uri_of: UriOf) -> list[types.Diagnostic]:
    """Return the findings in the document itself."""
    return [_diagnostic(finding, checked, uri_of) for finding in checked.findings]


def quick_fixes(checked: Checked, asked: types.Range, uri: str) -> Iterator[types.CodeAction]:
    """Yield the proved fixes of the findings in a range. A fix that has edits in other files is not offered here."""
    for finding in checked.findings:
        fix = finding.fix
        if fix is None or not fix.edits or not _touch(range_of(finding.span, checked.text), asked):
            continue
        if any(edit.span.path != checked.path for edit in fix.edits):
            continue
        edits = [types.TextEdit(range_of(edit.span, checked.text), edit.text) for edit in fix.edits]
        document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=checked.version)
        why = f": {fix.why}" if fix.why else ""
        yield types.CodeAction(
            title=f"{finding.code}: {_said(fix.edits)} ({fix.safety} fix, proved{why})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding, checked, lambda path: path)],
            is_preferred=fix.safety == "safe",
            edit=types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)]),
        )


def _diagnostic(finding: Finding, checked: Checked, uri_of: UriOf) -> types.Diagnostic:
    happens = f"\n{WHEN[finding.stage]}: {finding.consequence}" if finding.consequence else ""
    raises = f"\nthe error will be: {finding.raises}" if finding.raises else ""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(note.span.path), range_of(note.span, text)), note.message
        )
        for note in finding.related
        if (text := checked.text_of(note.span.path)) is not None
    ]
    return types.Diagnostic(
        range=range_of(finding.span, checked.text),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        message=finding.message + happens + raises,
        related_information=related,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_COMMENT else [],
    )


def _location(span: Span, text: str, uri_of: UriOf) -> types.Location:
    return types.Location(uri_of(span.path), range_of(span, text))


def _touch(one: types.Range, other: types.Range) -> bool:
    def key(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)


def _said(edits: Sequence[Edit]) -> str:
    if len(edits) > 1:
        return f"change {len(edits)} places"
    text = edits[0].text.strip()
    if "\n" in text:
        return "change these lines"
    return f"write {text}" if text else "take it out"
