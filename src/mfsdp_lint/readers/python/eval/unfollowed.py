"""Calls whose code is not at hand."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.containers import any_of, some_of
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.harmless import calls_nothing, changes_nothing
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import is_object
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)


def unfollowed(
    machine: Machine,
    name: str,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    *,
    named: bool = True,
) -> Object:
    """A call whose code is not at hand: its result is unknown, and so is everything it may have changed.

    `named` says that `name` is the dotted name of what is called, and not only a text for it.
    """
    machine.unfollowed += 1
    machine.doubts += 1
    picked = _picked(machine, [*arguments, *keywords.values()])
    if not (named and changes_nothing(name)):
        machine.path.launched.extend(_configurations(machine, name, [*arguments, *keywords.values()]))
        if machine.tracing:
            machine.suspect = machine.note(node, frame, None, "unfollowed", None, None)
        for value in [*arguments, *keywords.values()]:
            havoc(machine, value)
        machine.suspect = None
    elif not calls_nothing(name):
        for value in [*arguments, *keywords.values()]:
            if isinstance(value, (Function, Bound, Partial)):
                havoc(machine, value)
    result = machine.unknown(f"{name}()")
    return any_of(machine, [*picked, result]) if picked else result


def _picked(machine: Machine, values: list[Object]) -> list[Object]:
    """What a function may pick of the objects in the lists that it is given: one of them, or some."""
    found: list[Object] = []
    for value in values:
        items = tuple(value.fields.values()) if isinstance(value, DictObject) else value
        items = value.items or () if isinstance(value, ListObject) else items
        if not isinstance(items, (tuple, list)):
            continue
        machine.charge(len(items))
        # Where all are unknown, they may be objects that nothing was written to so far.
        if any(map(is_object, items)) or (items and all(isinstance(item, Unknown) for item in items)):
            found += (*items, some_of(machine, items))
    return found


def _configurations(machine: Machine, name: str, values: list[Object]) -> list[tuple[Object, Object]]:
    return [
        (value, deep_copy(machine, value))
        for value in values
        if isinstance(value, Instance) and is_container(machine, value)
    ]
