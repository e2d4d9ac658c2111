"""Places of the data that a program loads: in a file of the tree, or in a literal of the program's own text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, place, trace
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.places import Placed

Read = Callable[[str, str], list[Placed]]
"""From the path and the text of a file to the documents in it. Raises NoData."""

_QUOTES = re.compile("[rRuU]?(\"\"\"|'''|[\"'])")
"""The beginning of a literal that holds its text as it is, or nearly."""


def in_place(machine: Machine, read: Read, text: str, node: Any, frame: Frame) -> list[Placed]:
    """Load the documents of a text with their places: in the file that has it, or in a literal of the program.

    Raises NoData where the loader refuses the text.
    """
    path = machine.finder.texts.get(text)
    if path is not None:
        return read(path, text)
    start = _start_in_code(machine, text, node, frame)
    if start is None:
        return [moved(each, lambda _: None) for each in read("", text)]
    return [moved(each, partial(_from, start)) for each in read(start.path, text)]


def moved(placed: Placed, move: Callable[[Origin], Origin | None]) -> Placed:
    """Return a value with other places."""
    value = placed.value
    if isinstance(value, dict):
        value = {key: moved(item, move) for key, item in value.items()}
    elif isinstance(value, list):
        value = [moved(item, move) for item in value]
    return Placed(value, placed.origin and move(placed.origin), placed.open)


def _start_in_code(machine: Machine, text: str, node: Any, frame: Frame) -> Span | None:
    """Return where in the program's own text a loaded text begins; None where it is not written there as it is."""
    for given in node.args if isinstance(node, ast.Call) else ():
        machine.looks = LOOKS
        for module, said, _ in reversed((place(Text(given, frame)), *trace(machine, Text(given, frame)))):
            if isinstance(said, ast.Constant) and said.value == text and module.upstream is None:
                return _written_out(machine, module, said, text)
    return None


def _written_out(machine: Machine, module: Module, literal: ast.Constant, text: str) -> Span | None:
    """Return where behind the opening quotes of a literal its text begins; None where the text has escapes."""
    try:
        lines = Lines(machine.finder.sources.text(module.path))
    except Unreadable:
        return None
    span = lines.of_node(module.path, literal)
    opening = _QUOTES.match(lines.cut(span))
    if opening is None:
        return None
    start = lines.offset(span.line, span.column) + opening.end()
    return lines.span(module.path, start, start) if lines.text.startswith(text, start) else None


def _from(start: Span, origin: Origin) -> Origin:
    """Convert a place in a text to a place in the file that holds the text from `start` on."""

    def point(line: int, column: int) -> tuple[int, int]:
        return line + start.line - 1, column + (start.column - 1 if line == 1 else 0)

    def there(span: Span) -> Span:
        return Span(start.path, *point(span.line, span.column), *point(span.end_line, span.end_column))

    return replace(origin, span=there(origin.span), focus=origin.focus and there(origin.focus))
