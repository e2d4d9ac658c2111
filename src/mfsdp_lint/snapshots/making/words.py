"""Which texts a function tells apart in a parameter.

These are what the function, or one that it passes the parameter on to, compares it with or finds it in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.objects import MISSING, DictObject, Function, Object

DEPTH = 4
MOST = 64


def words(machine: Machine, function: Function, parameter: str) -> list[str]:
    """The texts, in the order in which the code has them."""
    return list(dict.fromkeys(_words(machine, function, parameter, DEPTH)))[:MOST]


def _words(machine: Machine, function: Function, parameter: str, depth: int) -> Iterator[str]:
    if not isinstance(function.node, ast.FunctionDef) or depth == 0:
        return
    for node in ast.walk(function.node):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_root(side) == parameter for side in sides):
                yield from (text for side in sides for text in _texts(side))
        elif isinstance(node, ast.Match) and _root(node.subject) == parameter:
            yield from (text for case in node.cases for text in _texts(case.pattern))
        elif isinstance(node, ast.Subscript) and _root(node.slice) == parameter:
            yield from _keys(_global(machine, function, node.value))
        elif isinstance(node, ast.Call):
            yield from _of_call(machine, function, node, parameter, depth)


def _of_call(machine: Machine, function: Function, node: ast.Call, parameter: str, depth: int) -> Iterator[str]:
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and node.args
        and _root(node.args[0]) == parameter
    ):
        yield from _keys(_global(machine, function, node.func.value))
        return
    passed: list[int | str | None] = [i for i, argument in enumerate(node.args) if _root(argument) == parameter]
    passed += [keyword.arg for keyword in node.keywords if _root(keyword.value) == parameter]
    if not passed:
        return
    called = _global(machine, function, node.func)
    if not isinstance(called, Function) or not isinstance(called.node, ast.FunctionDef):
        return
    names = [argument.arg for argument in (*called.node.args.posonlyargs, *called.node.args.args)]
    for place in passed:
        name = place if not isinstance(place, int) else names[place] if place < len(names) else None
        if name is not None:
            yield from _words(machine, called, name, depth - 1)


def _root(node: ast.expr) -> str | None:
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return node.id


def _texts(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _global(machine: Machine, function: Function, node: ast.expr) -> Object:
    try:
        return resolve_global(machine, function.module, node.id) if isinstance(node, ast.Name) else MISSING
    except Raised:
        return MISSING


def _keys(table: Object) -> list[str]:
    return [key for key in table.fields if isinstance(key, str)] if isinstance(table, DictObject) else []
