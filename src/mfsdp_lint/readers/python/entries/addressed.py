"""From an address to what can be run: one function of a file, with the arguments that the address gives it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from mfsdp_lint.core.nearest import did_you_mean, nearest
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.readers.python.entries.class_recipes import method
from mfsdp_lint.readers.python.entries.entries import Entry, functions, partials, positional_given, script
from mfsdp_lint.readers.python.eval.classes import mro, namespace
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.imports import ensure_ran, resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.modules import parse
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Function, Partial


class NotThere(Exception):
    """An address that names nothing, or calls it in a way that it cannot be called; the text says what to do."""


def addressed(machine: Machine, address: Address) -> Entry:
    """Return the entry point that an address names. Raises NotThere, and Unreadable for its file."""
    module = machine.finder.load(address.path)
    if module is None:
        parse(address.path, machine.finder.sources.text(address.path))
        raise NotThere("cannot be read")
    ensure_ran(machine, module)
    owner, _, name = address.function.rpartition(".")
    entry = _inside(machine, module, owner, name) if owner else _top_level(machine, module, name)
    if entry is None:
        raise NotThere(f"there is no function {address.function}{_nearest(machine, module, address.function)}")
    if entry.function is None:
        if address.positional or address.keywords:
            raise NotThere(f"{address.function} is no function: it takes no arguments")
        return entry
    return replace(entry, module=module, arguments=_bound(address, entry))


def _top_level(machine: Machine, module: Module, name: str) -> Entry | None:
    value = resolve_global(machine, module, name)
    decorated = [each for each in functions(machine, module) if each.name == name and each.wrapper is not None]
    if decorated:
        return decorated[0]
    if isinstance(value, Function) and isinstance(value.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        own = value.module is module
        return Entry(name, module, "function", value.node.lineno if own else _line(module, name), value)
    if isinstance(value, Partial) and isinstance(value.function, Function):
        return Entry(name, module, "function", _line(module, name), value.function, partial=value)
    if is_container(machine, value):
        return Entry(name, module, "module", _line(module, name))
    main = script(machine, module)
    return main if main is not None and main.name == name else None


def _line(module: Module, name: str) -> int:
    """Return the line where a module's top level binds a name that is no function of its own."""
    for node in module.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if name in bound:
            return node.lineno
    return 1


def _inside(machine: Machine, module: Module, owner: str, name: str) -> Entry | None:
    """Return the entry point of a method of a class, or of a function in a table."""
    cls = resolve_global(machine, module, owner)
    if not isinstance(cls, ClassObject):
        return next((each for each in partials(machine, module) if each.name == f"{owner}.{name}"), None)
    bases = [base for base in mro(machine, cls) if isinstance(base, ClassObject) and name in namespace(machine, base)]
    return method(machine, cls, bases[0], name) if bases else None


def _bound(address: Address, entry: Entry) -> Mapping[str, Plain]:
    """Bind the arguments of an address to the parameters that take them."""
    assert entry.function is not None
    parameters: ast.arguments = entry.function.node.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)][positional_given(entry) :]
    if len(address.positional) > len(positional):
        few = f"{len(positional)} at most" if positional else "none"
        raise NotThere(f"{address.function} takes {few} of the {len(address.positional)} positional arguments")
    given = dict(zip(positional, address.positional, strict=False))
    named = {*positional, *(each.arg for each in parameters.kwonlyargs)}
    for name, value in address.keywords:
        if name in given:
            raise NotThere(f"{address.function} is given {name} twice")
        if name not in named and parameters.kwarg is None:
            hint = did_you_mean(name, sorted(named)) or f" (it has: {', '.join(sorted(named)) or 'none'})"
            raise NotThere(f"{address.function} has no parameter {name}{hint}")
        given[name] = value
    return given


def _nearest(machine: Machine, module: Module, name: str) -> str:
    known = [
        f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name
        for node in module.tree.body
        for inner in (node.body if isinstance(node, ast.ClassDef) else [node])
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    close = nearest(name, known, cutoff=0.0)
    return f"; the nearest is {close[0]}" if close else "; the file has none"
