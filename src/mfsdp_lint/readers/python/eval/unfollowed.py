"""Calls whose code is not at hand."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.containers import any_of, some_of
from mfsdp_lint.readers.python.eval.launching import hand_over, launch_what_is_started
from mfsdp_lint.readers.python.state.effects import calls_nothing, changes_nothing, only_looks
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.frames import Call, Frame, told_at
from mfsdp_lint.readers.python.values.markers import CONFIGURATION
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    DictObject,
    Function,
    ListObject,
    Object,
    Partial,
    Place,
    Unknown,
    is_object,
)


def unfollowed(
    interp: Interpreter,
    name: str,
    call: Call,
    *,
    named: bool = True,
    blamed: bool = True,
) -> Object:
    """Treat a call whose code is not at hand: its result is unknown, and so is everything it may have changed.

    `named` says that `name` is the dotted name of the called value, and not only a text for it. `blamed` says that the
    call is the obstacle; it is not where the called value comes from an argument.
    """
    interp.unfollowed += 1
    interp.doubts += 1
    given = call.values
    picked = _picked(interp, given)
    launch_what_is_started(interp, call)
    obstacle = call_at(name, call.node, call.frame) if blamed else None
    result = interp.unknown(f"{name}()")
    result.obstacle = obstacle
    called = [value for value in given if isinstance(value, (Function, Bound, Partial))]
    if not (named and changes_nothing(name)):
        if hand_over(interp, given, call.node, call.frame):
            result.fields[CONFIGURATION] = True
        forget(interp, given, call.node, call.frame, obstacle)
    elif not (calls_nothing(name) or all(map(only_looks, called))):
        # They may be called with all that is given.
        forget(interp, given, call.node, call.frame, obstacle)
    elif not calls_nothing(name):
        for value in called:
            forget_reachable(interp, value)
    return any_of(interp, [*picked, result]) if picked else result


_OF_UPSTREAM = frozenset(("megatron", "transformers", "huggingface_hub"))
"""Packages that a run brings along: upstream's code, and the numbers of models. Nobody writes these into a recipe."""


def call_at(name: str, node: Any, frame: Frame) -> Place | None:
    """Return a call that is not followed, as the obstacle to a value; None for a call of upstream or in its code."""
    if name.partition(".")[0] in _OF_UPSTREAM:
        return None
    node, _, frame = told_at(node, None, frame)
    if is_upstream(frame.module) or not isinstance(node, ast.Call):
        return None
    return frame.module, node, frame.function


def is_upstream(module: Module) -> bool:
    """Tell whether a module is upstream's, and nobody asked to have it checked."""
    return module.upstream is not None or (module.name.partition(".")[0] in _OF_UPSTREAM and not module.asked_for)


def forget(interp: Interpreter, values: list[Object], node: Any, frame: Frame, obstacle: Place | None = None) -> None:
    """Forget what all these hold, and remember what call it was that may have changed it."""
    if interp.tracing:
        interp.suspect = interp.note(node, frame, None, "unfollowed", None, None)
    seen: set[int] = set()
    outer, interp.obstacle = interp.obstacle, obstacle
    for value in values:
        forget_reachable(interp, value, seen)
    interp.suspect, interp.obstacle = None, outer


def _picked(interp: Interpreter, values: list[Object]) -> list[Object]:
    """List the objects that a function may pick from the lists that it is given: one of them, or some."""
    found: list[Object] = []
    for value in values:
        items = tuple(value.fields.values()) if isinstance(value, DictObject) else value
        items = value.items or () if isinstance(value, ListObject) else items
        if not isinstance(items, (tuple, list)):
            continue
        interp.charge(len(items))
        # Where all are unknown, they may be objects that nothing was written to so far.
        if any(map(is_object, items)) or (items and all(isinstance(item, Unknown) for item in items)):
            found += (*items, some_of(interp, items))
    return found
