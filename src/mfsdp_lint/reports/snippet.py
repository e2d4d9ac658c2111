"""Source lines as compilers show them: those of a span with a mark under it, and those that a fix changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from mfsdp_lint.core.finding import Fix
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.wording import printable, width

Lines = Callable[[str], "list[str]"]
"""The lines of a file, without their ends; empty where the file is not at hand."""

Row = tuple[str, str]
"""The text in the gutter (a line number, `...` or nothing), and the text beside it."""

_TAB = "    "
_LONGEST = 160
"""Characters of one line that are worth showing; of a longer line, the part around the mark."""

_BELOW = 5
"""Rows shown below the first line of a span; of a longer span, the first and the last ones."""


def lines_of(texts: Texts) -> Lines:
    """Split every text once."""

    @cache
    def lines(path: str) -> list[str]:
        return [line.rstrip("\r\n") for line in split_lines(texts(path) or "")]

    return lines


def snippet(span: Span, lines: list[str], mark: str = "^") -> list[Row]:
    """Return the rows that show a span; none if its lines are not available."""
    if not 1 <= span.line <= len(lines):
        return []
    # A span that ends before the first character of a line does not reach that line.
    end_line = min(span.end_line - (span.end_column <= 1), len(lines))
    if end_line <= span.line:
        return _one_line(span, lines[span.line - 1], mark)
    return _several_lines(span, end_line, lines, mark)


def _one_line(span: Span, line: str, mark: str) -> list[Row]:
    first = span.column - 1
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    begin = max(first - _LONGEST // 4, 0) if len(line) > _LONGEST else 0
    cut_off = "…" if begin else ""
    before = _columns(cut_off + line[begin:first])
    under = _columns(line[first : min(last, begin + _LONGEST)])
    return [(str(span.line), cut_off + _clip(line[begin:])), ("", " " * before + mark * max(under, 1))]


def _several_lines(span: Span, end_line: int, lines: list[str], mark: str) -> list[Row]:
    first, last = lines[span.line - 1], lines[end_line - 1]
    last_column = span.end_column - 2 if span.end_line == end_line else len(last) - 1
    rows = [
        (str(span.line), "  " + _clip(first)),
        ("", " " + "_" * (_columns(first[: min(span.column - 1, _LONGEST)]) + 1) + mark),
    ]
    below = [(str(number), f"| {_clip(lines[number - 1])}".rstrip()) for number in range(span.line + 1, end_line + 1)]
    rows += below if len(below) <= _BELOW else [*below[: _BELOW - 2], ("...", "|"), below[-1]]
    rows.append(("", "|" + "_" * (_columns(last[: min(max(last_column, 0), _LONGEST)]) + 1) + mark))
    return rows


def _clip(line: str) -> str:
    return _display(line[:_LONGEST]) + ("…" if len(line) > _LONGEST else "")


def _display(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def _columns(text: str) -> int:
    return width(_display(text))


def fits_one_line(fix: Fix) -> bool:
    """Tell whether one sentence can describe the fix: one edit of one line."""
    return len(fix.edits) == 1 and len(fix.edits[0].text.strip().splitlines()) <= 1


def changes(fix: Fix, texts: Texts) -> Iterator[tuple[str, list[Row]]]:
    """Yield for each file its path and line, and the rows; a file without text is left out."""
    for path in dict.fromkeys(edit.span.path for edit in fix.edits):
        text = texts(path)
        if text is not None:
            edits = [edit for edit in fix.edits if edit.span.path == path]
            first = min(edit.span.line for edit in edits)
            last = max(edit.span.end_line for edit in edits)
            yield f"{path}:{first}", list(_diff_rows(text, apply_edits(path, text, edits), first, last))


def _diff_rows(text: str, changed: str, first: int, last: int) -> Iterator[Row]:
    """Yield the rows of a diff; only the lines around the edits are compared, since only those differ."""
    import difflib

    before, after = ([_display(line.rstrip("\r\n")) for line in split_lines(each)] for each in (text, changed))
    old = before[first - 1 : last]
    new = after[first - 1 : max(len(after) - len(before) + last, first - 1)]
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from ((str(first + at), f"- {old[at]}") for at in range(start, end))
            yield from ((str(first + at), f"+ {new[at]}") for at in range(new_start, new_end))
