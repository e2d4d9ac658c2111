"""Conversion of write records into origins in files."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from mfsdp_lint.core.recipe import Call, How, Obstacle, Origin, Source, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.readers.python.export.plain import plain_value
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, Object, Option, Place, Unknown, Write


class Spans:
    """Turns syntax nodes into spans; `ast` counts columns in bytes, spans in characters."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._lines: dict[str, list[str]] = {}
        self.origins: dict[int, tuple[Write, Origin | None]] = {}

    def of(self, module: Module, node: ast.AST) -> Span:
        """Return the span of a node of a module."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1) or 1
        return Span(
            module.path,
            line,
            self._column(module, line, getattr(node, "col_offset", 0)),
            end_line,
            self._column(module, end_line, getattr(node, "end_col_offset", 0) or 0),
        )

    def _column(self, module: Module, line: int, offset: int) -> int:
        lines = self._lines.get(module.path)
        if lines is None:
            try:
                # Python ends a line at these three only, unlike str.splitlines.
                text = self.machine.finder.sources.text(module.path)
                lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            except Exception:
                lines = []
            self._lines[module.path] = lines
        text = lines[line - 1] if line <= len(lines) else ""
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1


def origin(spans: Spans, write: Write | None) -> Origin | None:
    """Return the origin of a write, with the writes it replaced."""
    if write is None or not isinstance(write, Write):
        return None
    chain: list[Write] = []
    here: Any = write
    found: Origin | None = None
    while isinstance(here, Write) and len(chain) < 50:
        known = spans.origins.get(id(here))
        if known is not None:
            found = known[1]
            break
        chain.append(here)
        here = here.earlier
    for one in reversed(chain):
        found = one_origin(spans, one, found)
        # Recipes share the writes of the helpers that they call. The write is kept, so that its id stays its own.
        spans.origins[id(one)] = (one, found)
    return found


def one_origin(spans: Spans, write: Write, earlier: Origin | None) -> Origin | None:
    """Return the origin of one write; `earlier` is the origin of the write that it replaced."""
    if isinstance(write.module, Module) and write.node is not None and hasattr(write.node, "lineno"):
        focus = (
            spans.of(write.module, write.focus) if write.focus is not None and hasattr(write.focus, "lineno") else None
        )
        how: How = write.how  # type: ignore[assignment]  # one of those that `Machine.note` is given
        return Origin(
            spans.of(write.module, write.node),
            how,
            focus,
            write.function,
            write.module.upstream,
            write.order,
            earlier,
            plain_value(spans.machine, write.value) if spans.machine.tracing else UNKNOWN,
            _calls(spans, write),
            write.value.text if spans.machine.tracing and _is_unknown(write.value) else "",
            _option(write.value),
            tuple(_source(spans, place) for place in write.sources),
        )
    if isinstance(write.node, Origin):
        value = plain_value(spans.machine, write.value) if spans.machine.tracing else UNKNOWN
        return replace(write.node, order=write.order, earlier=earlier, value=value, calls=_calls(spans, write))
    return earlier


_LONGEST_CALL = 60


def obstacle(spans: Spans, place: Place, written: Origin | None) -> Obstacle | None:
    """Describe a call that is not followed; for a variable of the environment, `written` is the origin of its value."""
    module, node, _ = place
    if isinstance(node, str):
        return None if written is None else Obstacle(node, written.point, given=True)
    if isinstance(node, Origin):
        return node.obstacle
    text = ast.unparse(node)
    if len(text) > _LONGEST_CALL or "\n" in text:
        text = f"{ast.unparse(node.func)}(…)" if isinstance(node, ast.Call) else f"{text[:_LONGEST_CALL]}…"
    return Obstacle(text, spans.of(module, node))


def _source(spans: Spans, place: Place) -> Source:
    module, node, function = place
    return Source(node.point if isinstance(node, Origin) else spans.of(module, node), function)


def _is_unknown(value: Object) -> TypeGuard[Unknown]:
    return isinstance(value, Unknown) and not (type(value) is Option and value.default is not MISSING)


def _option(value: Object) -> str:
    """Return the options of a command line that a value may come from."""
    options = value.options if isinstance(value, Choice) else (value,)
    return ", ".join(dict.fromkeys(option.text for option in options if type(option) is Option))


def _calls(spans: Spans, write: Write) -> tuple[Call, ...]:
    return tuple(
        Call(spans.of(module, node), function)
        for module, node, function in write.frames
        if module is not None and node is not None and hasattr(node, "lineno")
    )
