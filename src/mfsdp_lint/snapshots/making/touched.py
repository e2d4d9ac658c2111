"""Fields that a method of a class may change, from its code.

This is for a `__post_init__` that is too long to be summarised (that of Megatron-Core's TransformerConfig has 1,600
lines in 0.19): a field that it does not touch keeps its passed or declared value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.readers.python.eval.classes import lookup, opaque
from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, External, Function, Native, Object
from mfsdp_lint.snapshots.making.meaning import Names, texts_in


class OutOfSight(Exception):
    """The object is handed to something that is not looked into."""


def touched(
    interp: Interpreter, modules: Mapping[str, Module], cls: ClassObject, method: Function, owner: Object
) -> set[str] | None:
    """Find the attributes of `self` that a method (which `owner` has) may change; None if that is not certain.

    A computed name is one of those that the functions involved write down as a text.
    """
    try:
        return set(_Touching(interp, modules, cls).by(method, owner))
    except OutOfSight:
        return None


class _Touching:
    """The methods of one class that are looked at, each once."""

    def __init__(self, interp: Interpreter, modules: Mapping[str, Module], cls: ClassObject) -> None:
        self.interp = interp
        self.modules = modules
        self.cls = cls
        self.seen: set[Function] = set()

    def by(self, method: Function, owner: Object) -> Iterator[str]:
        if method in self.seen:
            return
        self.seen.add(method)
        if not isinstance(method.node, ast.FunctionDef) or not method.node.args.args:
            raise OutOfSight
        self_name = method.node.args.args[0].arg
        names = Names(self.interp, self.modules, method)
        accounted: set[int] = set()
        for node in ast.walk(method.node):
            match node:
                case ast.Attribute(value=ast.Name(id=name) as subject, attr=attribute) if name == self_name:
                    accounted.add(id(subject))
                    if attribute == "__dict__":
                        raise OutOfSight
                    if not isinstance(node.ctx, ast.Load):
                        yield attribute
                case ast.Subscript(value=inner) if not isinstance(node.ctx, ast.Load):
                    yield from _held(inner, self_name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=called)) if name == self_name:
                    yield from self._method(lookup(self.interp, self.cls, called))
                    yield from _handed_on(node, self_name)
                case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=called)):
                    if called == "__setattr__":
                        yield from _set(names, method, node.args[:-1])
                    else:
                        yield from self._method(lookup(self.interp, self.cls, called, after=owner))
                    accounted.update(id(argument) for argument in node.args)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="object"), attr="__setattr__")):
                    yield from _set(names, method, node.args[1:-1])
                    accounted.update(id(argument) for argument in node.args)
                case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name) as subject, attribute, _]) if (
                    name == self_name
                ):
                    accounted.add(id(subject))
                    yield from _set(names, method, [attribute])
                case ast.Call(func=func):
                    if _asks(names, func):
                        accounted.update(id(argument) for argument in node.args)
                    if isinstance(func, ast.Attribute):
                        yield from _held(func.value, self_name)
                    if not _leaves(names, func):
                        yield from _handed_on(node, self_name)
        if any(
            isinstance(node, ast.Name) and node.id == self_name and id(node) not in accounted
            for node in ast.walk(method.node)
        ):
            raise OutOfSight

    def _method(self, found: tuple[Object, Object]) -> Iterator[str]:
        method, owner = found
        if isinstance(method, Function):
            yield from self.by(method, owner)
        elif method is not MISSING or opaque(self.interp, self.cls):
            raise OutOfSight


def _asks(names: Names, func: ast.expr) -> bool:
    """Tell whether an object may be passed to a function without being changed, now or later."""
    found = names.meant(func)
    if not isinstance(found, (External, Native)):
        return False
    return found.name == "builtins.getattr" or effect(found.name) <= Effect.CALLS


def _leaves(names: Names, func: ast.expr) -> bool:
    """Tell whether an object's contents may be passed to a function without being changed by it."""
    found = names.meant(func)
    if isinstance(found, (External, Native)):
        return effect(found.name) <= (Effect.KEEPS if found.name.startswith("builtins.") else Effect.CALLS)
    return found is MISSING and isinstance(func, ast.Attribute) and effect_of_method(func.attr) <= Effect.KEEPS


def _held(node: ast.expr, self: str) -> Iterator[str]:
    """Yield the attribute of `self` that an expression is, or is a part of."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        inner = node.value
        if isinstance(node, ast.Attribute) and isinstance(inner, ast.Name) and inner.id == self:
            yield node.attr
        node = inner


def _handed_on(call: ast.Call, self: str) -> Iterator[str]:
    """Yield the attributes of `self` that are passed to a function, which may change them."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _held(argument.value if isinstance(argument, ast.Starred) else argument, self)


def _set(names: Names, method: Function, written: list[ast.expr]) -> Iterator[str]:
    match written:
        case [ast.Constant(value=str(name))]:
            yield name
        case _:
            yield from _texts(names, method)


def _texts(names: Names, method: Function) -> Iterator[str]:
    """Yield the texts in a method, in the functions that it calls, and in the module tables that these name."""
    functions = {method}
    for node in ast.walk(method.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = names.meant(node.func)
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
            yield from texts_in(tree)
