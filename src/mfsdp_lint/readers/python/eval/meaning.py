"""Meaning of the names in a text, before the text is run: the functions, classes and modules that its module has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
)

_MADE_BY = ("__init__", "__post_init__", "__call__")
_DEEPEST = 4


def meant(machine: Machine, module: Module, node: ast.AST, function: Function | None = None) -> Object:
    """Tell what a name, or what is reached from one, means in a module or in one of its functions.

    Of a call, it is what is called: `Recipes().build` means a method of the class. MISSING where that takes running it.
    """
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    match node:
        case ast.Name(id=name):
            return _named(machine, module, name, function)
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if function and function.cls:
            return lookup(machine, function.cls, name, function.cls)[0]
        case ast.Attribute(value=inner, attr=name):
            owner = meant(machine, module, inner, function)
            if isinstance(owner, Module):
                return resolve_global(machine, owner, name)
            if isinstance(owner, Instance):
                owner = owner.cls
            return lookup(machine, owner, name)[0] if isinstance(owner, ClassObject) else MISSING
    return MISSING


def _named(machine: Machine, module: Module, name: str, function: Function | None) -> Object:
    here: Frame | None = None if function is None else function.closure
    while here is not None:
        if name in here.fields:
            found: Object = here.fields[name]
            return found
        here = here.enclosing
    if function is not None and function.cls is not None:
        parameters = (*function.node.args.posonlyargs, *function.node.args.args)
        if parameters and parameters[0].arg == name:
            return function.cls
    return resolve_global(machine, module, name)


def functions_of(machine: Machine, value: Object, depth: int = 0) -> Iterator[Function]:
    """Yield the functions that may run when a value, or a value that it holds, is called."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, (Partial, Bound, Descriptor)):
        yield from functions_of(machine, value.function, depth)
    elif isinstance(value, ClassObject):
        for name in _MADE_BY:
            yield from functions_of(machine, lookup(machine, value, name)[0], depth)
    elif depth < _DEEPEST:
        for inner in _held(value):
            yield from functions_of(machine, inner, depth + 1)


def _held(value: Object) -> tuple[Object, ...]:
    if isinstance(value, Choice):
        return tuple(value.options)
    if isinstance(value, DictObject):
        return tuple(value.fields.values())
    if isinstance(value, ListObject):
        return tuple(value.items or ())
    return value if isinstance(value, tuple) else ()
