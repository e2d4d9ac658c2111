"""Which fields a method of a class may change, by what is written in it.

For a `__post_init__` that is too long to be summarised (that of Megatron-Core's TransformerConfig has 1,600 lines in
0.19): what it does not touch is still what was passed or declared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.classes import lookup, opaque
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.objects import MISSING, Function, Object

LOOKING = frozenset(("getattr", "hasattr", "isinstance", "type", "id", "repr", "str", "fields", "asdict"))
"""Functions that an object may be handed to without being changed."""

HARMLESS = LOOKING | {
    "len", "int", "float", "bool", "min", "max", "abs", "sum", "any", "all", "set", "list", "tuple", "dict", "sorted",
    "range", "enumerate", "zip", "print", "round", "callable", "issubclass", "frozenset", "reversed", "map", "filter",
}  # fmt: skip
"""Functions that what an object holds may be handed to without being changed."""


class OutOfSight(Exception):
    """The object is handed to something that is not looked into."""


def touched(machine: Machine, cls: ClassObject, method: Function, owner: Object) -> set[str] | None:
    """The attributes of `self` that a method (which `owner` has) may change; None where that cannot be told.

    A computed name is one of those that the functions involved write down as a text.
    """
    try:
        return set(_touched(machine, cls, method, owner, set()))
    except OutOfSight:
        return None


def _touched(machine: Machine, cls: ClassObject, method: Function, owner: Object, seen: set[Function]) -> Iterator[str]:
    if method in seen:
        return
    seen.add(method)
    if not isinstance(method.node, ast.FunctionDef) or not method.node.args.args:
        raise OutOfSight
    self = method.node.args.args[0].arg
    accounted: set[int] = set()
    for node in ast.walk(method.node):
        match node:
            case ast.Attribute(value=ast.Name(id=name) as subject, attr=attribute) if name == self:
                accounted.add(id(subject))
                if attribute == "__dict__":
                    raise OutOfSight
                if not isinstance(node.ctx, ast.Load):
                    yield attribute
            case ast.Subscript(value=inner) if not isinstance(node.ctx, ast.Load):
                yield from _held(inner, self)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=called)) if name == self:
                yield from _method(machine, cls, lookup(machine, cls, called), seen)
                yield from _handed_on(node, self)
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=called)):
                if called == "__setattr__":
                    yield from _set(machine, method, node.args[:-1])
                else:
                    yield from _method(machine, cls, lookup(machine, cls, called, after=owner), seen)
                accounted.update(id(argument) for argument in node.args)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="object"), attr="__setattr__")):
                yield from _set(machine, method, node.args[1:-1])
                accounted.update(id(argument) for argument in node.args)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name) as subject, attribute, _]) if (
                name == self
            ):
                accounted.add(id(subject))
                yield from _set(machine, method, [attribute])
            case ast.Call(func=func):
                if _last(func) in LOOKING:
                    accounted.update(id(argument) for argument in node.args)
                if isinstance(func, ast.Attribute):
                    yield from _held(func.value, self)
                if _last(func) not in HARMLESS:
                    yield from _handed_on(node, self)
    if any(
        isinstance(node, ast.Name) and node.id == self and id(node) not in accounted for node in ast.walk(method.node)
    ):
        raise OutOfSight


def _last(func: ast.expr) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _held(node: ast.expr, self: str) -> Iterator[str]:
    """The attribute of `self` that an expression is, or is a part of."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = node.value
        if isinstance(node, ast.Attribute) and isinstance(inner, ast.Name) and inner.id == self:
            yield node.attr
        node = inner


def _handed_on(call: ast.Call, self: str) -> Iterator[str]:
    """What `self` holds and a function gets, which may change it."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _held(argument.value if isinstance(argument, ast.Starred) else argument, self)


def _method(machine: Machine, cls: ClassObject, found: tuple[Object, Object], seen: set[Function]) -> Iterator[str]:
    method, owner = found
    if isinstance(method, Function):
        yield from _touched(machine, cls, method, owner, seen)
    elif method is not MISSING or opaque(machine, cls):
        raise OutOfSight


def _set(machine: Machine, method: Function, names: list[ast.expr]) -> Iterator[str]:
    match names:
        case [ast.Constant(value=str(name))]:
            yield name
        case _:
            yield from _texts(machine, method)


def _texts(machine: Machine, method: Function) -> Iterator[str]:
    """The texts in a method, in the functions that it calls, and in the tables of their modules that they name."""
    functions = {method}
    for node in ast.walk(method.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            try:
                called = resolve_global(machine, method.module, node.func.id)
            except Raised:
                continue
            if isinstance(called, Function):
                functions.add(called)
    for function in functions:
        tables = {
            target.id: statement.value
            for statement in function.module.tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        named = [
            tables[node.id] for node in ast.walk(function.node) if isinstance(node, ast.Name) and node.id in tables
        ]
        for tree in (function.node, *named):
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
