"""Conversion of values and write records into the form that recipes have: knowledge, and origins in files."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import CallSite, How, Obstacle, Origin, Source, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value, join
from mfsdp_lint.megatron.layers import LAYER_FUNCTIONS
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.bounds import is_small
from mfsdp_lint.readers.python.values.code import plain
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    DTYPES,
    MISSING,
    OVERRIDE,
    Choice,
    DictObject,
    EnumMember,
    External,
    Function,
    IteratorObject,
    ListObject,
    Module,
    Object,
    Option,
    Partial,
    Place,
    Unknown,
    Write,
    is_symbolic,
    uncertain,
)

_SWITCH: dict[bool | None, Value] = {value: Known(value) for value in (None, True, False)}
_FOLDER = lazy_pattern(r"<DIR:\d+>")

FUNCTIONS = {
    *("torch.nn.functional.relu", "torch.nn.functional.sigmoid", "torch.nn.functional.silu"),
    *LAYER_FUNCTIONS,
}
"""Functions that are known by name: gates and activations, by the name they are used by (gelu's own is another, torch
2.13.0), and those that say which layers a model has."""


def switch(value: Object) -> Value | None:
    """Return None, True or False as a recipe's known value; None for any other value."""
    return _SWITCH[value] if value is None or value is True or value is False else None


def plain_value(interp: Interpreter, value: Object, depth: int = 0) -> Value:
    """Return the known part of a value, in the form that recipes have it."""
    if (known := switch(value)) is not None:
        return known
    value = interp.settle(value)
    if isinstance(value, (bytes, complex, type(...))):
        return NOT_NONE
    if isinstance(value, CONSTANTS):
        if not is_small(value):
            return NOT_NONE
        return Known(_FOLDER.sub("<DIR>", value)) if isinstance(value, str) and is_symbolic(value) else Known(value)
    if isinstance(value, Unknown):
        is_some = value.not_none or interp.path.facts.fields.get(("not none", id(value))) is True
        return NOT_NONE if is_some or (value.fields and value.writes) else UNKNOWN
    if isinstance(value, Choice):
        return join(plain_value(interp, option, depth) for option in value.options if option is not MISSING)
    if isinstance(value, EnumMember):
        at_heart = plain(value)
        return Known(value.name) if at_heart is value else plain_value(interp, at_heart, depth)
    if (name := _name_of_function(value)) in FUNCTIONS:
        return Known(f"<function {name}>")
    if isinstance(value, External):
        top, _, last = value.name.rpartition(".")
        return Known(value.name) if top == "torch" and last in DTYPES else NOT_NONE
    if isinstance(value, (tuple, ListObject)) and depth < 8 and not isinstance(value, IteratorObject):
        items = list(value) if isinstance(value, tuple) else value.items
        return (
            NOT_NONE
            if items is None or any(map(uncertain, items))
            else _known_list([plain_value(interp, item, depth + 1) for item in items])
        )
    if isinstance(value, DictObject) and depth < 8 and not value.writes.get(MAY_HAVE_CHANGED):
        if any(map(uncertain, value.fields.values())):
            return NOT_NONE
        return _known_dict({key: plain_value(interp, item, depth + 1) for key, item in value.fields.items()})
    return NOT_NONE


def _name_of_function(value: Object) -> str | None:
    """Return the dotted name of a function, or of the function of a partial call."""
    if isinstance(value, Partial):
        value = value.function
    if isinstance(value, Function):
        return f"{value.module.name}.{value.name}"
    return value.name if isinstance(value, External) else None


def _known_list(items: list[Value]) -> Value:
    found: list[Plain] = []
    for item in items:
        if not isinstance(item, Known):
            return NOT_NONE
        found.append(item.value)
    return Known(found)


def _known_dict(items: dict[Any, Value]) -> Value:
    found: dict[str, Plain] = {}
    for key, item in items.items():
        if not isinstance(item, Known):
            return NOT_NONE
        found[str(key)] = item.value
    return Known(found)


class Spans:
    """Turns syntax nodes into spans; `ast` counts columns in bytes, spans in characters."""

    def __init__(self, interp: Interpreter) -> None:
        self.interp = interp
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
                text = self.interp.finder.sources.text(module.path)
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
    """Return the origin of one write; `earlier` is the origin of the write that it replaced. Of an override it has the
    value.
    """
    if earlier is not None and write.how != OVERRIDE and getattr(write.earlier, "how", "") == OVERRIDE:
        assert write.earlier is not None
        earlier = replace(earlier, how="override", value=plain_value(spans.interp, write.earlier.value))
    if isinstance(write.module, Module) and write.node is not None and hasattr(write.node, "lineno"):
        focus = (
            spans.of(write.module, write.focus) if write.focus is not None and hasattr(write.focus, "lineno") else None
        )
        how: How = "assigned" if write.how == OVERRIDE else write.how  # type: ignore[assignment]  # one of `How`
        if write.module.upstream is not None and how != "default":
            how = "upstream"
        return Origin(
            spans.of(write.module, write.node),
            how,
            focus,
            write.function,
            write.module.upstream,
            write.order,
            earlier,
            plain_value(spans.interp, write.value) if spans.interp.tracing else UNKNOWN,
            _calls(spans, write),
            write.value.text if spans.interp.tracing and _is_unknown(write.value) else "",
            _option(write.value),
            tuple(_source(spans, place) for place in write.sources),
        )
    if isinstance(write.node, Origin):
        value = plain_value(spans.interp, write.value) if spans.interp.tracing else UNKNOWN
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


def _calls(spans: Spans, write: Write) -> tuple[CallSite, ...]:
    return tuple(
        CallSite(spans.of(module, node), function)
        for module, node, function in write.frames
        if module is not None and node is not None and hasattr(node, "lineno")
    )
