"""The classes with fields of upstream (configurations and their parts): their methods, and what derived ones change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, mro, namespace
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Function
from mfsdp_lint.snapshots.making.annotations import is_plain
from mfsdp_lint.snapshots.making.meaning import functions_of, global_of

ASKING = ("getattr", "hasattr", "setattr", "isinstance")
"""Functions that are handed an object for one attribute of it, or for its class."""


class Classes:
    """The classes with fields of these modules. They are looked for when they are first asked for."""

    def __init__(self, machine: Machine, modules: Mapping[str, Module]) -> None:
        self.machine = machine
        self.modules = modules
        self._methods: dict[str, list[tuple[Function, ClassObject]]] | None = None
        self._plain: frozenset[str] | None = None
        self._bases: set[int] | None = None

    def methods(self, name: str) -> list[tuple[Function, ClassObject]]:
        """Return the methods and properties of this name, with their classes."""
        if self._methods is None:
            self._methods = {}
            for cls in self._all():
                for key, value in namespace(self.machine, cls).items():
                    for function in functions_of(value):
                        self._methods.setdefault(key, []).append((function, cls))
        return self._methods.get(name, [])

    def related_methods(self, cls: ClassObject, name: str) -> list[Function]:
        """Return the methods of this name of a class, its bases, and the classes derived from it."""
        above = mro(self.machine, cls)
        found = [
            function for function, other in self.methods(name) if other in above or cls in mro(self.machine, other)
        ]
        own, _ = lookup(self.machine, cls, name)
        return [*found, *functions_of(own)]

    def is_plain_field(self, name: str) -> bool:
        """Tell whether every class that declares a field of this name annotates it as a number, a text or the like."""
        if self._plain is None:
            notes: dict[str, bool] = {}
            for cls in self._all():
                for node in cls.node.body if cls.node is not None else ():
                    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                        notes[node.target.id] = notes.get(node.target.id, True) and is_plain(node.annotation)
            self._plain = frozenset(name for name, plain in notes.items() if plain)
        return name in self._plain

    def decide(self, method: Function, cls: ClassObject) -> bool:
        """Tell whether a method behaves differently in classes derived from its own, due to their fields or methods."""
        if not self._is_derived_from(cls):
            return False
        seen: set[int] = set()
        todo = [method]
        while todo:
            each = todo.pop()
            if id(each) in seen or not isinstance(each.node, ast.FunctionDef) or not each.node.args.args:
                continue
            seen.add(id(each))
            read = set(_own_attributes(each.node, each.node.args.args[0].arg))
            if None in read:
                return True
            for name in map(str, read):
                if any(other is not cls and cls in mro(self.machine, other) for _, other in self.methods(name)):
                    return True
                todo += functions_of(lookup(self.machine, cls, name)[0])
        return False

    def _is_derived_from(self, cls: ClassObject) -> bool:
        if self._bases is None:
            self._bases = {id(base) for each in self._all() for base in mro(self.machine, each)[1:]}
        return id(cls) in self._bases

    def _all(self) -> Iterator[ClassObject]:
        for module in self.modules.values():
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    cls = global_of(self.machine, module, node.name)
                    if isinstance(cls, ClassObject) and cls.module is module and has_fields(self.machine, cls):
                        yield cls


def _own_attributes(function: ast.FunctionDef, name: str) -> Iterator[str | None]:
    """Yield the attributes that are read of a variable; None if it is passed on itself, or its class is read."""
    accounted = set()
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) as variable, attr=attribute) if owner == name:
                accounted.add(id(variable))
                yield None if attribute.startswith("__") else attribute
            case ast.Call(func=ast.Name(id="isinstance"), args=[asked, _, *_]):
                accounted.add(id(asked))
            case ast.Call(func=ast.Name(id=called), args=[asked, ast.Constant(), *_]) if called in ASKING:
                accounted.add(id(asked))
    if any(isinstance(node, ast.Name) and node.id == name and id(node) not in accounted for node in ast.walk(function)):
        yield None
