"""Lines and columns of a text, and how they map to offsets.

A line ends at LF, CR LF or CR, as Python, YAML and editors have it; `str.splitlines` also breaks at form feeds and
other separators, and would number the lines differently from `ast`.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, field

if TYPE_CHECKING:
    import ast

    _Node = ast.stmt | ast.expr | ast.keyword | ast.alias

_END = lazy_pattern(r"\r\n|\r|\n")
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; joined they are the text."""
    return _LINE.findall(text)


@lru_cache(maxsize=256)
def _starts(text: str) -> tuple[int, ...]:
    """Return the offsets at which lines begin: many places of one text are asked for, one after the other."""
    if "\r" in text:
        return (0, *(match.end() for match in _END.finditer(text)))
    return tuple(accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0))


@dataclass(frozen=True, slots=True)
class Lines:
    """The offsets at which the lines of a text begin.

    Lines and columns count from 1, columns in characters, offsets from 0.
    """

    text: str
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_starts", _starts(self.text))

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column."""
        return self._starts[line - 1] + column - 1

    def span(self, path: str, start: int, end: int) -> Span:
        """Return the span from one offset to another (exclusive)."""
        return Span(path, *self.position(start), *self.position(end))

    def range(self, span: Span) -> tuple[int, int]:
        """Return the offsets of a span's start and end."""
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def of_beginning(self, path: str, node: _Node, text: str) -> Span:
        """Return the span of a text that a node begins with."""
        start = self.column(node.lineno, node.col_offset)
        return Span(path, node.lineno, start, node.lineno, start + len(text))

    def of_node(self, path: str, node: _Node) -> Span:
        """Return the span of a node."""
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return Span(path, node.lineno, self.column(node.lineno, node.col_offset), end_line, self.column(end_line, end))

    def column(self, line: int, byte_column: int) -> int:
        """Return the column of a place that `ast` gives from 0, in bytes."""
        start, end = self._starts[line - 1], self._starts[line] if line < len(self._starts) else len(self.text)
        text = self.text[start:end]
        return byte_column + 1 if text.isascii() else len(text.encode()[:byte_column].decode(errors="ignore")) + 1

    def cut(self, span: Span) -> str:
        """Return the text of a span."""
        start, end = self.range(span)
        return self.text[start:end]
