"""Source lines as compilers show them: those of a span with a mark under it, and those that a fix changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.finding import Edit, Fix
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.wording import printable, width

Lines = Callable[[str], "list[str]"]
"""The lines of a file, without their ends; empty where the file is not at hand."""

Row = tuple[str, str]
"""What stands in the gutter (a line number, `...` or nothing), and what stands beside it."""

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
    below = range(span.line + 1, end_line + 1)
    if len(below) <= _BELOW:
        rows += [_barred(number, lines) for number in below]
    else:
        rows += [_barred(number, lines) for number in below[: _BELOW - 2]]
        rows += [("...", "|"), _barred(end_line, lines)]
    rows.append(("", "|" + "_" * (_columns(last[: min(max(last_column, 0), _LONGEST)]) + 1) + mark))
    return rows


def _barred(number: int, lines: list[str]) -> Row:
    return str(number), ("| " + _clip(lines[number - 1])).rstrip()


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
            first = min(edit.span.line for edit in fix.edits if edit.span.path == path)
            yield f"{path}:{first}", list(_diff_rows(path, text, fix.edits))


def _diff_rows(path: str, text: str, edits: Sequence[Edit]) -> Iterator[Row]:
    """Yield the rows of a diff; only the lines around the edits are compared, since only those differ."""
    import difflib

    mine = [edit for edit in edits if edit.span.path == path]
    first, last = min(edit.span.line for edit in mine) - 1, max(edit.span.end_line for edit in mine)

    before, after = _shown_lines(text), _shown_lines(apply_edits(path, text, mine))
    behind = len(before) - last
    old, new = before[first:last], after[first : max(len(after) - behind, first)]
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from ((str(first + start + number + 1), f"- {line}") for number, line in enumerate(old[start:end]))
            yield from (
                (str(first + new_start + number + 1), f"+ {line}") for number, line in enumerate(new[new_start:new_end])
            )


def _shown_lines(text: str) -> list[str]:
    return [printable(line.rstrip("\r\n").replace("\t", "    ")) for line in split_lines(text)]
