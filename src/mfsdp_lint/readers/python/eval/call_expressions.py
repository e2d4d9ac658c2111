"""Call expressions: from the syntax to the function, its arguments and the places that say them."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.containers import as_mapping
from mfsdp_lint.readers.python.eval.iteration import elements, uncertain
from mfsdp_lint.readers.python.eval.unfollowed import forget, unfollowed
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import forget_methods
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import EVALUATORS, evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised, Refused
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ConfigTree,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Option,
    Super,
    Unknown,
)

_HOLDERS = (DictObject, ListObject, Instance, ConfigTree)
"""Kinds of values that know who wrote their parts."""


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame) -> Object:
    """Return the value of a call. Raises Raised where the program would."""
    owner, function = _called(machine, node.func, frame)
    if (type(function) is External and function.name == "super") or (
        type(node.func) is ast.Name and node.func.id == "super"
    ):
        return _super(machine, node, frame, function)
    arguments: list[Object] = []
    for item in node.args:
        if type(item) is ast.Starred:
            value = evaluate(machine, item.value, frame)
            items = elements(machine, value, frame)
            if items is None or any(map(uncertain, items)):
                arguments += items or [value]
                return _call_with_unknown(machine, node, item, frame, owner, function, arguments)
            arguments += items
        else:
            arguments.append(EVALUATORS[type(item)](machine, item, frame))
    keywords: dict[str, Object] = {}
    focus: dict[str, Any] = {}
    by_option = False
    for keyword in node.keywords:
        said = keyword.value
        value = EVALUATORS[type(said)](machine, said, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            focus[keyword.arg] = keyword
        else:
            by_option |= type(value) is Option
            _spread(machine, as_mapping(machine, value, node, frame), keywords, focus, frame)
    if type(function) is Unknown:
        _forget_owner(machine, owner, node, frame)
    try:
        result = invoke(machine, function, Call(arguments, keywords, node, frame, focus))
    except Raised as error:
        if type(error) is Refused and error.node is None:
            error.spread, error.by_option = any(each.arg is None for each in node.keywords), by_option
        error.passes(frame.module, node, focus.get(error.keyword))
        raise
    if type(result) in _HOLDERS:
        machine.gave[node] = result
    return result


def _called(machine: Machine, node: ast.expr, frame: Frame) -> tuple[Object, Object]:
    """Return the called value, and before it the object that it may be a method of (None if it is no attribute)."""
    if not isinstance(node, ast.Attribute):
        return None, evaluate(machine, node, frame)
    owner = evaluate(machine, node.value, frame)
    return owner, get_attribute(machine, owner, node.attr, node, frame)


def _forget_owner(machine: Machine, owner: Object, node: ast.Call, frame: Frame) -> None:
    """Forget an object of unknown class after a method call: the program's own method may change the object."""
    options = owner.options if isinstance(owner, Choice) else (owner,)
    owners: list[Object] = [option for option in map(machine.settle, options) if isinstance(option, Unknown)]
    if owners and isinstance(node.func, ast.Attribute) and forget_methods(machine, node.func.attr):
        forget(machine, owners, node, frame)


def _spread(machine: Machine, value: Object, keywords: dict[str, Object], focus: dict[str, Any], frame: Frame) -> None:
    value = machine.settle(value)
    if isinstance(value, DictObject):
        hazy = bool(value.writes.get(HAZY))
        for key, item in value.fields.items():
            if isinstance(key, str):
                # Whoever changed it out of sight may have taken an entry away as well.
                keywords[key] = Choice((item, MISSING)) if hazy and isinstance(item, Unknown) else item
                write = value.writes.get(key)
                if write is not None and write is not True and write.module is frame.module:
                    focus[key] = write.focus or write.node
        if hazy:
            keywords["**"] = value
    else:
        keywords["**"] = value


def _call_with_unknown(
    machine: Machine,
    node: ast.Call,
    last: ast.expr,
    frame: Frame,
    owner: Object,
    function: Object,
    arguments: list[Object],
) -> Object:
    """Evaluate a call whose number of arguments is not known; those up to `last` are evaluated already."""
    arguments += (evaluate(machine, item, frame) for item in node.args[node.args.index(last) + 1 :])
    keywords = {keyword.arg or "**": evaluate(machine, keyword.value, frame) for keyword in node.keywords}
    _forget_owner(machine, owner, node, frame)
    forget(machine, [function, *_makers(machine, function)], node, frame)
    return unfollowed(machine, ast.unparse(node.func), Call(arguments, keywords, node, frame), blamed=False)


def _makers(machine: Machine, cls: Object) -> list[Object]:
    """List the code that runs when a class is called."""
    names = ("__new__", "__init__", "__post_init__") if isinstance(cls, ClassObject) else ()
    return [lookup(machine, cls, name)[0] for name in names]


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
