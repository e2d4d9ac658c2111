"""Which parameters of a function may decide an FSDP switch: by the text alone, before anything is evaluated for it.

A parameter reaches a switch where a value made from it is written under a switch's name, where a condition on it stands
above such a write (or above a call of a function that has one), or where it is passed on to a parameter that does. What
is said here is "perhaps": whether the switch really changes, evaluating the recipe says (see exposed.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from mfsdp_lint.readers.python.eval.classes import fields_of
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Function, Object, Partial
from mfsdp_lint.vocabulary import SWITCHES

_NAMES = frozenset(path.rpartition(".")[2] for path in SWITCHES)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def reaches(machine: Machine, function: Function, parameter: str) -> bool:
    """Whether a parameter of a function (or a key of its `**kwargs`) may decide an FSDP switch."""
    key = ("reaches", function, parameter)
    if key not in machine.memo:
        machine.memo[key] = False  # while it is being asked: a function that calls itself adds nothing
        machine.memo[key] = _reaches(machine, function, parameter)
    found: bool = machine.memo[key]
    return found


def _reaches(machine: Machine, function: Function, parameter: str) -> bool:
    tracked = _tracked(function.node, _bound_name(function.node.args, parameter))
    for node in _nodes(function.node):
        if _decides(machine, function, node, tracked) or any(_uses(value, tracked) for value in _written(node)):
            return True
        if isinstance(node, ast.Call) and _passed_on(machine, function, node, parameter, tracked):
            return True
    return False


def _decides(machine: Machine, function: Function, node: ast.AST, tracked: set[str]) -> bool:
    """Whether a node is a condition on a tracked name, above something that names a switch."""
    test = _condition(node)
    if test is None or not _uses(test, tracked):
        return False
    # Behind `if not flag: return` all the rest depends on it.
    leaves = any(isinstance(inner, _LEAVES) for inner in ast.walk(node))
    return _switches(machine, function, function.node if leaves else node)


def _bound_name(parameters: ast.arguments, name: str) -> str | None:
    """The local name that an argument is bound to: the parameter's, or that of `**kwargs`."""
    named = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    if any(parameter.arg == name for parameter in named):
        return name
    return parameters.kwarg.arg if parameters.kwarg is not None else None


def _tracked(node: ast.AST, name: str | None) -> set[str]:
    """The local names whose value may come from `name`."""
    tracked = set() if name is None else {name}
    before = -1
    while len(tracked) > before:
        before = len(tracked)
        for names, value in _bindings(node):
            if _uses(value, tracked):
                tracked |= names
    return tracked


@lru_cache(maxsize=256)
def _nodes(function: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(function))


@lru_cache(maxsize=256)
def _bindings(function: ast.AST) -> tuple[tuple[frozenset[str], ast.expr], ...]:
    """The names that a function binds in each of its assignments, and to what."""
    found = []
    for node in _nodes(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                found.append((frozenset[str]().union(*map(_names, targets)), value))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                found.append((_names(target), value))
    return tuple(found)


def _names(target: ast.AST) -> frozenset[str]:
    stored = (node for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return frozenset(node.id for node in stored)


def _uses(node: ast.AST, tracked: set[str]) -> bool:
    return not _mentioned(node).isdisjoint(tracked)


@lru_cache(maxsize=4096)
def _mentioned(node: ast.AST) -> frozenset[str]:
    """The names in an expression: every parameter of its function is looked for there."""
    return frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _condition(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            return node.test
        case ast.Match():
            return node.subject
        case ast.BoolOp():
            return node
        case _:
            return None


def _written(node: ast.AST) -> Iterator[ast.expr]:
    """The values that a node writes under the name of a switch."""
    match node:
        case ast.keyword(arg=name, value=value) if name in _NAMES:
            yield value
        case ast.Assign(targets=targets, value=value) if any(_is_switch(target) for target in targets):
            yield value
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value) if (
            _is_switch(target)
        ):
            yield value
        case ast.Dict(keys=keys, values=values):
            yield from (value for key, value in zip(keys, values, strict=True) if key and _is_switch(key))
        case ast.Call(args=args) if any(_is_switch(argument) for argument in args):
            yield from args


def _is_switch(node: ast.AST) -> bool:
    """Whether a node names a switch: an attribute, an argument or an entry of this name."""
    match node:
        case ast.Attribute(attr=name) | ast.keyword(arg=name) | ast.Constant(value=str(name)):
            return name in _NAMES
        case ast.Subscript(slice=inner):
            return _is_switch(inner)
        case _:
            return False


def _switches(machine: Machine, function: Function, node: ast.AST) -> bool:
    """Whether a piece of a function names a switch, or calls a function that does."""
    if any(_is_switch(inner) for inner in ast.walk(node)):
        return True
    called = (_called(machine, function.module, inner) for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(isinstance(one, Function) and _names_switch(machine, one) for one in called)


def _names_switch(machine: Machine, function: Function) -> bool:
    key = ("names a switch", function)
    if key not in machine.memo:
        machine.memo[key] = False
        machine.memo[key] = _switches(machine, function, function.node)
    found: bool = machine.memo[key]
    return found


def _called(machine: Machine, module: Module, call: ast.Call) -> Object:
    target: Object = None
    match call.func:
        case ast.Name(id=name):
            target = resolve_global(machine, module, name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            holder = resolve_global(machine, module, owner)
            target = resolve_global(machine, holder, name) if isinstance(holder, Module) else None
    return target.function if isinstance(target, Partial) else target


def _passed_on(machine: Machine, function: Function, call: ast.Call, parameter: str, tracked: set[str]) -> bool:
    names = [keyword.arg or parameter for keyword in call.keywords if _uses(keyword.value, tracked)]
    positions = [number for number, argument in enumerate(call.args) if _uses(argument, tracked)]
    if not names and not positions:
        return False
    target = _called(machine, function.module, call)
    if isinstance(target, ClassObject):
        fields = [spec.name for spec in fields_of(machine, target)]
        return any(fields[number] in _NAMES for number in positions if number < len(fields))
    if not isinstance(target, Function):
        return False
    parameters = target.node.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    names += [positional[number] for number in positions if number < len(positional)]
    return any(reaches(machine, target, name) for name in names)
