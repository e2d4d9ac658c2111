"""Calls: what is called decides what happens."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from mfsdp_lint.readers.python.eval.branches import Side, merge
from mfsdp_lint.readers.python.eval.classes import ClassObject
from mfsdp_lint.readers.python.eval.construction import instantiate
from mfsdp_lint.readers.python.eval.containers import GeneratorCall
from mfsdp_lint.readers.python.eval.functions import call_cached, follow, one_configuration, run_function
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.machine import Frame, Machine, Raised
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    Choice,
    Descriptor,
    DictObject,
    External,
    Function,
    Instance,
    Native,
    Object,
    Option,
    Partial,
    derived,
)

NO_FOCUS: Mapping[str, Any] = {}


HANDS_ON = {
    "builtins.dict", "builtins.setattr", "object.__setattr__", "dataclasses.replace", "copy.replace",
    "functools.partial", "types.SimpleNamespace", "argparse.Namespace", "typing.cast",
}  # fmt: skip
"""Modelled functions that pass their arguments on as they are."""


def call(
    machine: Machine,
    function: Object,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Mapping[str, Any] = NO_FOCUS,
) -> Object:
    """`function(*arguments, **keywords)`. Raises Raised where the program would."""
    if isinstance(function, Function):
        return call_function(machine, function, arguments, keywords, node, frame)
    if isinstance(function, ClassObject):
        return instantiate(machine, function, arguments, keywords, node, frame, focus)
    if isinstance(function, Native):
        return _call_model(machine, function.name, function.call, arguments, keywords, node, frame)
    if isinstance(function, Bound):
        return _call_bound(machine, function, arguments, keywords, node, frame)
    if isinstance(function, Partial):
        return _call_partial(machine, function, arguments, keywords, node, frame, focus)
    if isinstance(function, External):
        from mfsdp_lint.readers.python.library import LIBRARY

        modelled = LIBRARY.get(function.name)
        if modelled is not None:
            return _call_model(machine, function.name, modelled, arguments, keywords, node, frame)
        return unfollowed(machine, function.name, arguments, keywords, frame, node)
    if isinstance(function, Choice):
        return _call_one_of(machine, function, arguments, keywords, node, frame)
    if isinstance(function, Instance) and isinstance(function.cls, ClassObject):
        from mfsdp_lint.readers.python.eval.attributes import get_attribute

        return call(machine, get_attribute(machine, function, "__call__", frame), arguments, keywords, node, frame)
    if isinstance(function, Descriptor):
        return call(machine, function.function, arguments, keywords, node, frame)
    if isinstance(function, (str, int, float, type(None), tuple, DictObject)):
        raise Raised("TypeError", f"'{type(function).__name__}' object is not callable")
    settled = machine.settle(function)
    if settled is not function:
        return call(machine, settled, arguments, keywords, node, frame, focus)
    return unfollowed(machine, getattr(function, "text", ""), arguments, keywords, frame, node)


def _call_model(
    machine: Machine,
    name: str,
    model: Any,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
) -> Object:
    options = [value for value in (*arguments, *keywords.values()) if type(value) is Option]
    if not options or name in HANDS_ON:
        return model(machine, arguments, keywords, frame, node)
    arguments = [machine.settle(value) for value in arguments]
    keywords = {key: machine.settle(value) for key, value in keywords.items()}
    return derived(model(machine, arguments, keywords, frame, node), *options)


def _call_bound(
    machine: Machine, bound: Bound, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    function, owner = bound.function, bound.owner
    if isinstance(function, str):
        return method(machine, owner, function, arguments, keywords, frame, node)
    if isinstance(function, External):
        return _object_method(machine, function.name, owner, arguments, frame, node)
    return call(machine, function, [owner, *arguments], keywords, node, frame)


def _object_method(
    machine: Machine, name: str, owner: Object, arguments: list[Object], frame: Frame, node: Any
) -> Object:
    if name in ("object.__setattr__", "object.__getattribute__"):
        from mfsdp_lint.readers.python.library.registry import LIBRARY

        return LIBRARY[name](machine, [owner, *arguments], {}, frame, node)
    return None


def _call_partial(
    machine: Machine,
    partial: Partial,
    arguments: list[Object],
    keywords: dict[str, Object],
    node: Any,
    frame: Frame,
    focus: Mapping[str, Any],
) -> Object:
    return call(
        machine,
        partial.function,
        [*partial.arguments, *arguments],
        {**partial.keywords, **keywords},
        node,
        frame,
        focus,
    )


def _call_one_of(
    machine: Machine, choice: Choice, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    # Only one of them is called: what each does, it may as well not have done.
    mark, born = len(machine.journal), machine.clock
    sides: list[Side] = []
    for option in choice.options:
        try:
            result = call(machine, option, arguments, keywords, node, frame)
        except Raised:
            machine.doubts += 1
        else:
            sides.append((("return", result), machine.changes(mark)))
        machine.rollback(mark)
    if not sides:
        raise Raised("TypeError", "not callable")
    found = merge(machine, sides, born, force=True)[1]
    return one_configuration(machine, found, ast.unparse(node.func) if isinstance(node, ast.Call) else "a call")


def call_function(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """Run a function of the program, or give back what it returned for the same arguments before."""
    if function.unwrapped is not None:
        return _call_wrapped(machine, function, arguments, keywords, node, frame)
    return follow(machine, function, arguments, keywords, node, frame)


def _call_wrapped(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    kind = function.unwrapped
    if kind == "cached":
        return call_cached(machine, function, arguments, keywords, node, frame)
    if kind == "contextmanager":
        result = run_function(machine, function, arguments, keywords, node, frame)
        if isinstance(result, GeneratorCall):
            result.managed = True
        return result
    return call(machine, kind, arguments, keywords, node, frame)
