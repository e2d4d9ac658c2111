"""Where a finding in a notebook is: for people in a cell, for programs in the file as it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.notebooks import MARK, column_in_file, line_in_cell
from mfsdp_lint.inputs.sources import NOTEBOOK, Sources, Unreadable

CELL = ":cell "
"""Between the file and the number of a cell, which counts from 1 and all cells."""


def in_cells(findings: Sequence[Finding], sources: Sources) -> tuple[Finding, ...]:
    """The findings with places as `notebook.ipynb:cell 3`, line 5; other files stay as they are."""
    return tuple(_moved(finding, lambda span: _in_cell(span, sources)) for finding in findings)


def in_files(findings: Sequence[Finding], sources: Sources) -> tuple[Finding, ...]:
    """The findings with lines and columns of the file."""
    return tuple(_moved(finding, lambda span: _in_file(span, sources)) for finding in findings)


def text_of(path: str, sources: Sources) -> str | None:
    """The text of a file, or of a cell; None where it cannot be read."""
    file, _, cell = path.rpartition(CELL)
    if not (file.endswith(NOTEBOOK) and cell.isdecimal()):
        return sources.text_or_none(path)
    code, written = _both(file, sources)
    start = next((at for at, line in enumerate(code, 1) if (mark := MARK.match(line)) and mark["cell"] == cell), 0)
    lines = written[start:]
    return "\n".join(line_in_cell(line) for line in lines) if start else None


def _moved(finding: Finding, move: Callable[[Span], Span]) -> Finding:
    silenced = finding.suppressed
    return replace(
        finding,
        span=move(finding.span),
        handed_on=finding.handed_on and move(finding.handed_on),
        related=tuple(replace(note, span=move(note.span)) for note in finding.related),
        suppressed=silenced and replace(silenced, span=move(silenced.span)),
    )


def _in_cell(span: Span, sources: Sources) -> Span:
    if not span.path.endswith(NOTEBOOK):
        return span
    code, written = _both(span.path, sources)
    before = range(min(span.line, len(code)), 0, -1)
    start, mark = next(((at, mark) for at in before if (mark := MARK.match(code[at - 1]))), (0, None))
    if mark is None:
        return span
    here = _whole(span, code, written)
    path = f"{span.path}{CELL}{mark['cell']}"
    return Span(path, here.line - start, here.column, here.end_line - start, here.end_column)


def _in_file(span: Span, sources: Sources) -> Span:
    if not span.path.endswith(NOTEBOOK):
        return span
    code, written = _both(span.path, sources)
    if span.end_line > len(written):
        return span
    here = _whole(span, code, written)
    column = column_in_file(written[here.line - 1], here.column)
    end = column_in_file(written[here.end_line - 1], here.end_column)
    return replace(here, column=column, end_column=end)


def _whole(span: Span, code: Sequence[str], written: Sequence[str]) -> Span:
    """The line of a magic, which was read as other text; else the place itself."""
    if span.line > len(written) or span.line != span.end_line:
        return span
    shown = line_in_cell(written[span.line - 1])
    return span if shown == code[span.line - 1] else replace(span, column=1, end_column=len(shown) + 1)


def _both(path: str, sources: Sources) -> tuple[list[str], list[str]]:
    """The lines of a notebook as they are read, and as they are; none where it cannot be read."""
    try:
        return sources.text(path).split("\n"), split_lines(sources.as_it_is(path))
    except Unreadable:
        return [], []
