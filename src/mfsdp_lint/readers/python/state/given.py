"""Arguments: the text of a call that gave a parameter its value."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.texts import Text, peek, top
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.identity import identical
from mfsdp_lint.readers.python.values.objects import MISSING, Function, Object, Partial


def argument(machine: Machine, frame: Frame, name: str) -> Text | None:
    """Return the argument, or the default, that a parameter has its value from; None where that is not seen."""
    function = frame.code
    if not isinstance(function, Function) or name not in frame.fields:
        return None
    given = _given(machine, frame, function, name)
    if given is not None:
        machine.crossings += 1
        return given
    default = _default(function.node.args, name)
    if default is None or not _same(function.defaults.get(name, MISSING), frame.fields[name]):
        return None
    return Text(default, function.closure or top(function.module))


def extra(machine: Machine, frame: Frame, name: str, key: Object) -> Text | None:
    """Return the argument of a call that became an entry of the function's `*args` or `**kwargs`."""
    function, call, caller = frame.code, frame.node, frame.caller
    if not isinstance(function, Function) or not isinstance(call, ast.Call) or caller is None:
        return None
    parameters: ast.arguments = function.node.args
    machine.crossings += 1
    if parameters.kwarg is not None and parameters.kwarg.arg == name and isinstance(key, str):
        made = _partial(machine, call, caller)
        return _by_name(call, caller, key) or (_by_name(*made, key) if made is not None else None)
    if parameters.vararg is not None and parameters.vararg.arg == name and isinstance(key, int) and key >= 0:
        taken = len(parameters.posonlyargs) + len(parameters.args) - (function.cls is not None)
        return _by_position(_arguments(machine, call, caller, function), taken + key, caller)
    return None


def _given(machine: Machine, frame: Frame, function: Function, name: str) -> Text | None:
    call, caller, value = frame.node, frame.caller, frame.fields[name]
    if caller is None:
        return None
    if isinstance(call, (ast.Assign, ast.AnnAssign)) and call.value is not None:
        # A property's setter.
        found = Text(call.value, caller)
        return found if agrees(machine, found, value) else None
    if not isinstance(call, ast.Call):
        return None
    found_here = _in_call(machine, function, name, value, call, caller)
    made = _partial(machine, call, caller)
    return _in_call(machine, function, name, value, *made) if found_here is None and made is not None else found_here


def _partial(machine: Machine, call: ast.Call, caller: Frame) -> tuple[ast.Call, Frame] | None:
    """Return the call that made the partial function which a call calls, and the frame of that call."""
    through = peek(machine, call.func, caller)
    made = through.made if isinstance(through, Partial) else None
    return (made[0], made[1]) if made is not None and isinstance(made[0], ast.Call) else None


def _in_call(machine: Machine, function: Function, name: str, value: Object, call: Any, caller: Frame) -> Text | None:
    if not isinstance(call, ast.Call):
        return None
    by_name = _by_name(call, caller, name)
    if by_name is not None and agrees(machine, by_name, value):
        return by_name
    parameters: ast.arguments = function.node.args
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    if name not in positional:
        return None
    nodes = _arguments(machine, call, caller, function)
    # The object of a method stands before the dot.
    for bound in (1, 0) if function.cls is not None else (0, 1):
        found_here = _by_position(nodes, positional.index(name) - bound, caller)
        if found_here is not None and agrees(machine, found_here, value):
            return found_here
    return None


def _arguments(machine: Machine, call: ast.Call, caller: Frame, function: Function) -> list[ast.expr]:
    """Return the positional arguments for the function itself: `partial(function, 1)` names it first."""
    nodes = call.args
    if nodes and isinstance(nodes[0], (ast.Name, ast.Attribute)) and peek(machine, nodes[0], caller) is function:
        return nodes[1:]
    return nodes


def _by_name(call: ast.Call, caller: Frame, name: str) -> Text | None:
    spread = None
    for keyword in call.keywords:
        if keyword.arg == name:
            return Text(keyword, caller)
        spread = keyword.value if keyword.arg is None else spread
    return None if spread is None else Text(ast.Subscript(spread, ast.Constant(name), ast.Load()), caller)


def _by_position(nodes: list[ast.expr], position: int, caller: Frame) -> Text | None:
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Starred):
            behind = ast.Constant(position - index)
            return Text(ast.Subscript(node.value, behind, ast.Load()), caller) if position >= index else None
        if index == position:
            return Text(node, caller)
    return None


def agrees(machine: Machine, text: Text, value: Object) -> bool:
    """Tell whether an expression may have given a value: it has not if its own value is seen to be another."""
    seen = peek(machine, text.node, text.frame)
    return seen is MISSING or _same(seen, machine.settle(value))


def _same(left: Object, right: Object) -> bool:
    return left is right or identical(left, right)


def _default(parameters: ast.arguments, name: str) -> Any:
    named = [*parameters.posonlyargs, *parameters.args]
    pairs = [
        *zip(named[len(named) - len(parameters.defaults) :], parameters.defaults, strict=True),
        *zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True),
    ]
    return next((default for parameter, default in pairs if parameter.arg == name), None)
