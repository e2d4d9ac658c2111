"""Call expressions: from the syntax to the function, its arguments and the places that say them."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.containers import as_mapping
from mfsdp_lint.readers.python.eval.iteration import elements, uncertain
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    ConfigTree,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Super,
)

_HOLDERS = (DictObject, ListObject, Instance, ConfigTree)
"""What knows who wrote its parts."""


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame) -> Object:
    """The value of a call. Raises Raised where the program would."""
    function = evaluate(machine, node.func, frame)
    if (isinstance(function, External) and function.name == "super") or (
        isinstance(node.func, ast.Name) and node.func.id == "super"
    ):
        return _super(machine, node, frame, function)
    arguments: list[Object] = []
    for item in node.args:
        if isinstance(item, ast.Starred):
            value = evaluate(machine, item.value, frame)
            items = elements(machine, value, frame)
            if items is None or any(map(uncertain, items)):
                arguments += items or [value]
                return _call_with_unknown(machine, node, item, frame, function, arguments)
            arguments += items
        else:
            arguments.append(evaluate(machine, item, frame))
    keywords: dict[str, Object] = {}
    focus: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(machine, keyword.value, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            focus[keyword.arg] = keyword
        else:
            _spread(machine, as_mapping(machine, value, node, frame), keywords, focus, frame)
    try:
        result = call(machine, function, arguments, keywords, node, frame, focus)
    except Raised as error:
        error.passes(frame.module, node, focus.get(error.keyword))
        raise
    if type(result) in _HOLDERS:
        machine.gave[node] = result
    return result


def _spread(machine: Machine, value: Object, keywords: dict[str, Object], focus: dict[str, Any], frame: Frame) -> None:
    value = machine.settle(value)
    if isinstance(value, DictObject):
        for key, item in value.fields.items():
            if isinstance(key, str):
                keywords[key] = item
                write = value.writes.get(key)
                if write is not None and write is not True and write.module is frame.module:
                    focus[key] = write.focus or write.node
        if value.writes.get(HAZY):
            keywords["**"] = value
    else:
        keywords["**"] = value


def _call_with_unknown(
    machine: Machine, node: ast.Call, last: ast.expr, frame: Frame, function: Object, arguments: list[Object]
) -> Object:
    """A call of which it is not known how many arguments it has; those up to `last` were evaluated."""
    arguments += (evaluate(machine, item, frame) for item in node.args[node.args.index(last) + 1 :])
    keywords = {keyword.arg or "**": evaluate(machine, keyword.value, frame) for keyword in node.keywords}
    return unfollowed(machine, ast.unparse(node.func), arguments, keywords, node, frame)


def _super(machine: Machine, node: ast.Call, frame: Frame, function: Object) -> Object:
    if len(node.args) == 2:
        return Super(evaluate(machine, node.args[0], frame), evaluate(machine, node.args[1], frame))
    here: Frame | None = frame
    while here is not None and here.cls is None:
        here = here.enclosing
    if here is None or not here.fields:
        return machine.unknown("super()")
    owner = next(iter(here.fields.values()))
    return Super(here.cls, owner)
