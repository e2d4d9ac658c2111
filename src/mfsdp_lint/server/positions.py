"""Places as editors have them: lines and columns from 0, columns in units of UTF-16."""

from __future__ import annotations

from lsprotocol import types

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Span


def range_of(span: Span, text: str) -> types.Range:
    """Return the range of a piece of a text."""
    lines = split_lines(text)
    start, end = _position(lines, span.line, span.column), _position(lines, span.end_line, span.end_column)
    return types.Range(start, end)


def column_of(text: str, position: types.Position) -> int:
    """Return the column of a position, in characters from 1."""
    lines = split_lines(text)
    if position.line >= len(lines):
        return 1
    units, column = 0, 1
    for character in lines[position.line].rstrip("\r\n"):
        if units >= position.character:
            break
        units += _units(character)
        column += 1
    return column


def _position(lines: list[str], line: int, column: int) -> types.Position:
    if line > len(lines):
        return types.Position(line - 1, 0)
    return types.Position(line - 1, sum(map(_units, lines[line - 1][: column - 1])))


def _units(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1
