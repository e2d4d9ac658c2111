"""Meaning of the names in a function of upstream, without evaluating the function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Descriptor, External, Function, Native, Object


class Names:
    """The names that one function sees."""

    def __init__(self, machine: Machine, modules: Mapping[str, Module], function: Function) -> None:
        self.machine = machine
        self.modules = modules
        self.module = function.module
        self.local = _bound(function.node)
        self.imported = dict(self._imports(function.node))

    def meant(self, node: ast.expr) -> Object:
        """Find the global, or part of a module or class, that an expression names; MISSING for anything else."""
        if isinstance(node, ast.Name):
            return self._variable(node.id)
        if not isinstance(node, ast.Attribute):
            return MISSING
        owner = self.meant(node.value)
        if isinstance(owner, Module):
            return self.modules.get(f"{owner.name}.{node.attr}") or global_of(self.machine, owner, node.attr)
        if isinstance(owner, (External, Native)):
            return External(f"{owner.name}.{node.attr}")
        if isinstance(owner, ClassObject):
            found, _ = lookup(self.machine, owner, node.attr)
            return next(functions_of(found), MISSING)
        return MISSING

    def _variable(self, name: str) -> Object:
        if name in self.imported:
            return self.imported[name]
        if name in self.local:
            return MISSING
        found = global_of(self.machine, self.module, name)
        if found is MISSING and hasattr(builtins, name):
            return External(f"builtins.{name}")
        return found

    def _imports(self, function: ast.AST) -> Iterator[tuple[str, Object]]:
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                module = self.modules.get(node.module)
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found: Object = self.modules.get(full, MISSING)
                    if found is MISSING and module is not None:
                        found = global_of(self.machine, module, alias.name)
                    yield alias.asname or alias.name, External(full) if found is MISSING else found
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    full = alias.name if alias.asname else name
                    yield name, self.modules.get(full, External(full))


def global_of(machine: Machine, module: Module, name: str) -> Object:
    """Return a global of a module; MISSING if it has none of this name, or its value cannot be computed."""
    machine.path.steps = 0
    try:
        return resolve_global(machine, module, name)
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return MISSING


def functions_of(value: Object) -> Iterator[Function]:
    """Yield the functions that an attribute of a class is, or runs when it is read or assigned."""
    for one in (value.function, value.setter) if isinstance(value, Descriptor) else (value,):
        if isinstance(one, Function):
            yield one


def parameters(node: ast.FunctionDef) -> list[ast.arg]:
    """Return all parameters of a function."""
    arguments = node.args
    others = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *others]


def stored(node: ast.AST) -> list[str]:
    """List the variables that are assigned in a piece of code, once for each assignment."""
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _bound(function: ast.AST) -> set[str]:
    """Collect all names that are local to a function or to one inside it."""
    found = set(stored(function))
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found
