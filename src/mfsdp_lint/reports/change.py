"""A fix as a small diff: the lines that go and the lines that come, each with its number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mfsdp_lint.core.finding import Edit, Fix
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.snippet import Row


def fits_one_line(fix: Fix) -> bool:
    """Tell whether one sentence can describe the fix: one edit of one line."""
    return len(fix.edits) == 1 and len(fix.edits[0].text.strip().splitlines()) <= 1


def changes(fix: Fix, texts: Texts) -> Iterator[tuple[str, list[Row]]]:
    """Yield for each file its path and line, and the rows; a file without text is left out."""
    for path in dict.fromkeys(edit.span.path for edit in fix.edits):
        text = texts(path)
        if text is not None:
            first = min(edit.span.line for edit in fix.edits if edit.span.path == path)
            yield f"{path}:{first}", list(_rows(path, text, fix.edits))


def _rows(path: str, text: str, edits: Sequence[Edit]) -> Iterator[Row]:
    """Yield the rows of a diff; only the lines around the edits are compared, since only those differ."""
    import difflib

    mine = [edit for edit in edits if edit.span.path == path]
    first, last = min(edit.span.line for edit in mine) - 1, max(edit.span.end_line for edit in mine)

    before, after = _lines(text), _lines(apply_edits(path, text, mine))
    behind = len(before) - last
    old, new = before[first:last], after[first : max(len(after) - behind, first)]
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from ((str(first + start + number + 1), f"- {line}") for number, line in enumerate(old[start:end]))
            yield from (
                (str(first + new_start + number + 1), f"+ {line}") for number, line in enumerate(new[new_start:new_end])
            )


def _lines(text: str) -> list[str]:
    return [printable(line.rstrip("\r\n").replace("\t", "    ")) for line in split_lines(text)]
