"""Calls whose code is not at hand."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.containers import any_of, some_of
from mfsdp_lint.readers.python.eval.launching import hand_over
from mfsdp_lint.readers.python.eval.starting import launch_what_is_started
from mfsdp_lint.readers.python.state.effects import calls_nothing, changes_nothing
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.looking import only_looks
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import is_object
from mfsdp_lint.readers.python.values.markers import CONFIGURATION
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    DictObject,
    Function,
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
    given = [*arguments, *keywords.values()]
    picked = _picked(machine, given)
    launch_what_is_started(machine, arguments, keywords, node, frame)
    result = machine.unknown(f"{name}()")
    called = [value for value in given if isinstance(value, (Function, Bound, Partial))]
    if not (named and changes_nothing(name)):
        if hand_over(machine, given, node, frame):
            result.fields[CONFIGURATION] = True
        forget(machine, given, node, frame)
    elif not (calls_nothing(name) or all(map(only_looks, called))):
        # They may be called with all that is given.
        forget(machine, given, node, frame)
    elif not calls_nothing(name):
        for value in called:
            havoc(machine, value)
    return any_of(machine, [*picked, result]) if picked else result


def forget(machine: Machine, values: list[Object], node: Any, frame: Frame) -> None:
    """Forget what all these hold, and remember what call it was that may have changed it."""
    if machine.tracing:
        machine.suspect = machine.note(node, frame, None, "unfollowed", None, None)
    seen: set[int] = set()
    for value in values:
        havoc(machine, value, seen)
    machine.suspect = None


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
