"""Text and edits: places by line and column on the outside, offsets on the inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import dataclass, field

LINE_END = re.compile(r"\r\n|\r|\n")


class OverlapError(ValueError):
    """Two edits want to change the same piece of text."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text, by offsets. Offsets count characters from 0."""

    path: str
    text: str
    lines: Lines = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", Lines(self.text))

    def range(self, span: Span) -> tuple[int, int]:
        """Return the offsets of a span's start and end."""
        return self.lines.offset(span.line, span.column), self.lines.offset(span.end_line, span.end_column)

    def edit(self, start: int, end: int, new: str) -> Edit:
        """Make the edit that replaces the text from `start` to `end` (equal for an insertion) by `new`."""
        return Edit(self.lines.span(self.path, start, end), new)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of `offset` begins."""
        return self.lines.offset(self.lines.position(offset)[0], 1)

    def line_end(self, offset: int) -> int:
        """Return the offset at which the line of `offset` ends, before its line ending."""
        match = LINE_END.search(self.text, offset)
        return match.start() if match else len(self.text)

    def next_line(self, offset: int) -> int:
        """Return the offset of the line after that of `offset`; the end of the text if there is none."""
        match = LINE_END.search(self.text, offset)
        return match.end() if match else len(self.text)

    def newline(self, offset: int) -> str:
        """Return the line ending in use around `offset`: its line's, else the last one before, else a line feed."""
        match = LINE_END.search(self.text, offset)
        if match:
            return match.group()
        ends = LINE_END.findall(self.text)
        return ends[-1] if ends else "\n"


def path_written(document: Text, origin: Origin, path: str, meant: str) -> list[Edit] | None:
    """Write another path where `origin` has one in full; None where it stands there more than once, or not at all."""
    start, end = document.range(origin.span)
    found = list(re.finditer(rf"(?<![\w.]){re.escape(path)}(?![\w.])", document.text[start:end]))
    if len(found) != 1:
        return None
    return [document.edit(start + found[0].start(), start + found[0].end(), meant)]


def merge(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Order all edits by their places, equal ones once.

    Insertions at one place come before a replacement there: those of inner blocks first, which end there, and else in
    the order in which they were given. Raises OverlapError when two edits touch the same text and differ.
    """
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span, -_indentation(edit.text)))
    for before, after in pairwise(ordered):
        if before.span.path == after.span.path and _end(before) > _start(after):
            raise OverlapError(f"{after.span.path}:{after.span.line}: two fixes change the same text")
    return tuple(ordered)


def apply_edits(path: str, text: str, edits: Iterable[Edit]) -> str:
    """Apply those of `edits` that are in the file `path` to its `text`. Raises OverlapError."""
    document = Text(path, text)
    pieces: list[str] = []
    done = 0
    for edit in merge(edit for edit in edits if edit.span.path == path):
        start, end = document.range(edit.span)
        pieces += (text[done:start], edit.text)
        done = end
    return "".join((*pieces, text[done:]))


def apply_all(texts: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    """Return the new text of every file of `texts` that `edits` change. Raises OverlapError."""
    every = tuple(edits)
    return {path: apply_edits(path, texts[path], every) for path in dict.fromkeys(edit.span.path for edit in every)}


def _indentation(text: str) -> int:
    line = text.lstrip("\r\n")
    return len(line) - len(line.lstrip(" \t"))


def _start(edit: Edit) -> tuple[int, int]:
    return edit.span.line, edit.span.column


def _end(edit: Edit) -> tuple[int, int]:
    return edit.span.end_line, edit.span.end_column
