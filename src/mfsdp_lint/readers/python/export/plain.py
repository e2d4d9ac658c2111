"""Knowledge of a value, in the form that recipes have it."""

from __future__ import annotations

import re
from typing import Any

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value, join
from mfsdp_lint.readers.python.eval.iteration import uncertain
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.dtypes import DTYPES
from mfsdp_lint.readers.python.values.limits import is_small
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    External,
    IteratorObject,
    ListObject,
    Object,
    Unknown,
    is_symbolic,
)

_SWITCH: dict[bool | None, Value] = {value: Known(value) for value in (None, True, False)}
_FOLDER = re.compile(r"<DIR:\d+>")

FUNCTIONS = {"torch.nn.functional.relu", "torch.nn.functional.sigmoid", "torch.nn.functional.silu"}
"""Gates and activations that are known by the name they are used by; gelu's own is another (torch 2.13.0)."""


def switch(value: Object) -> Value | None:
    """Return None, True or False as a recipe's known value; None for any other value."""
    return _SWITCH[value] if value is None or value is True or value is False else None


def plain_value(machine: Machine, value: Object, depth: int = 0) -> Value:
    """Return the known part of a value, in the form that recipes have it."""
    if (plain := switch(value)) is not None:
        return plain
    value = machine.settle(value)
    if isinstance(value, (bytes, complex, type(...))):
        return NOT_NONE
    if isinstance(value, CONSTANTS):
        if not is_small(value):
            return NOT_NONE
        return Known(_FOLDER.sub("<DIR>", value)) if isinstance(value, str) and is_symbolic(value) else Known(value)
    if isinstance(value, Unknown):
        known = value.not_none or machine.path.facts.fields.get(("not none", id(value))) is True
        return NOT_NONE if known or (value.fields and _written(value)) else UNKNOWN
    if isinstance(value, Choice):
        return join(plain_value(machine, option, depth) for option in value.options if option is not MISSING)
    if isinstance(value, EnumMember):
        return Known(value.name)
    if isinstance(value, External):
        top, _, last = value.name.rpartition(".")
        if value.name in FUNCTIONS:
            return Known(f"<function {value.name}>")
        return Known(value.name) if top == "torch" and last in DTYPES else NOT_NONE
    if isinstance(value, (tuple, ListObject)) and depth < 8 and not isinstance(value, IteratorObject):
        items = list(value) if isinstance(value, tuple) else value.items
        return (
            NOT_NONE
            if items is None or any(map(uncertain, items))
            else _known_list([plain_value(machine, item, depth + 1) for item in items])
        )
    if isinstance(value, DictObject) and depth < 8 and not value.writes.get(HAZY):
        if any(map(uncertain, value.fields.values())):
            return NOT_NONE
        return _known_dict({key: plain_value(machine, item, depth + 1) for key, item in value.fields.items()})
    return NOT_NONE


def _written(value: Unknown) -> bool:
    return bool(value.writes)


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
