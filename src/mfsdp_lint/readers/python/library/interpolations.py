"""OmegaConf's interpolations, as of 2.3: `${other.entry}`, `${.beside}`, `text ${inside}`, `${oc.env:NAME,default}`.

An interpolation is worked out whenever it is read, from what the tree holds then. One that names a resolver of the
program, or an entry that is not there, is unknown.
"""

from __future__ import annotations

import re
from typing import TypeGuard

from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.hydra_overrides import NoOverride, read_element
from mfsdp_lint.readers.python.eval import attributes
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.variables import variable
from mfsdp_lint.readers.python.values.code import Frame
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ConfigTree,
    Interpolation,
    Object,
    derived,
)

_INNERMOST = re.compile(r"\$\{(?P<said>[^${}]*)\}")
_KEY = re.compile(r"(?P<dots>\.*)(?P<path>[^.\[\]:]+(?:\.[^.\[\]:]+)*)")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>[^"'\\]*)(?P=quote)""")
_DEEPEST = 20


def is_interpolation(value: Object) -> TypeGuard[str]:
    """Tell whether a text in a tree stands for something else: OmegaConf works it out, or it is missing (`???`)."""
    return isinstance(value, str) and ("${" in value or value == "???")


class _Open(Exception):
    """The value of an interpolation is not known."""


def interpolated(interp: Interpreter, tree: ConfigTree, entry: Interpolation, frame: Frame) -> Object:
    """Return the value of an interpolation that is an entry of a tree."""
    try:
        value, entry.found = _value(interp, tree, entry.text, frame, _DEEPEST)
    except _Open:
        entry.found = None
        return interp.unknown(entry.text)
    return value


Found = tuple[ConfigTree, str] | None


def _value(interp: Interpreter, tree: ConfigTree, text: str, frame: Frame, left: int) -> tuple[Object, Found]:
    """Return the value of a text with interpolations, and the entry that it is the value of. Raises _Open."""
    if "\\" in text or text == "???" or not left:
        raise _Open
    parts: list[Object] = []
    while (inner := _INNERMOST.search(text)) is not None:
        value, found = _said(interp, tree, inner["said"], frame, left - 1)
        if inner.span() == (0, len(text)):
            return (derived(value, *parts) if parts else value), found
        known = interp.settle(value)
        if not isinstance(known, CONSTANTS) or "${" in str(known):
            raise _Open
        parts.append(value)
        text = text[: inner.start()] + str(known) + text[inner.end() :]
    if "${" in text:
        raise _Open
    return derived(text, *parts), None


def _said(interp: Interpreter, tree: ConfigTree, said: str, frame: Frame, left: int) -> tuple[Object, Found]:
    """Return what is between the braces of an interpolation. Raises _Open."""
    resolver, colon, rest = said.partition(":")
    name, comma, default = (each.strip() for each in rest.partition(","))
    if not colon:
        key = said.strip()
        named = _KEY.fullmatch(key)
        if named is None:
            raise _Open
        above: ConfigTree | None = tree
        for _ in named["dots"][1:]:
            above = above.above if above is not None else None
        while not named["dots"] and above is not None and above.above is not None:
            above = above.above
        holder: Object = above
        *parts, last = named["path"].split(".")
        for part in parts:
            holder = _entry(interp, holder, part, frame, left)[0]
        value, found = _entry(interp, holder, last, frame, left)
        assert isinstance(holder, ConfigTree)
        return value, found or (holder, last)
    match resolver.strip():
        case "oc.env" if name.isidentifier():
            return (variable(interp, name, frame, default) if comma else variable(interp, name, frame)), None
        case "oc.decode":
            quoted = _QUOTED.fullmatch(rest.strip())
            if quoted is not None:
                return _decoded(quoted["text"]), None
    raise _Open


def _decoded(text: str) -> Object:
    """Return the value of a text in OmegaConf's grammar. Raises _Open."""
    try:
        element = read_element(text)
    except NoOverride:
        raise _Open from None
    if not isinstance(element, Known) or not isinstance(element.value, CONSTANTS):
        raise _Open
    return element.value


def _entry(interp: Interpreter, holder: Object, key: str, frame: Frame, left: int) -> tuple[Object, Found]:
    holder = interp.settle(holder)
    value = holder.fields.get(key, MISSING) if isinstance(holder, ConfigTree) else MISSING
    if value is MISSING:
        raise _Open
    if isinstance(value, Interpolation) and isinstance(holder, ConfigTree):
        return _value(interp, holder, value.text, frame, left - 1)
    return value, None


attributes.INTERPOLATED.append(interpolated)
