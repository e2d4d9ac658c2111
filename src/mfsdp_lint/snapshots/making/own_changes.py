"""What a function of upstream changes itself, and what it may call, by what is written in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, opaque
from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Descriptor, External, Function, Native
from mfsdp_lint.snapshots.making.inheritance import Classes
from mfsdp_lint.snapshots.making.meaning import Names, functions_of
from mfsdp_lint.snapshots.making.results import Boundless
from mfsdp_lint.snapshots.making.variables import Variables

HOOKS = ("__new__", "__init__", "__post_init__")
"""What making an object calls."""
OF_ANY_CLASS = ("builtins.object", "typing.", "typing_extensions.", "collections.abc.")
"""Annotations by which an object may be of any class, or of many."""


@dataclass(frozen=True, slots=True)
class OwnChanges:
    """The attributes that are written, whether contents of lists and dictionaries are, the functions it may call."""

    names: frozenset[str]
    contents: bool
    calls: tuple[Function, ...]


def own_changes(machine: Machine, modules: Mapping[str, Module], classes: Classes, function: Function) -> OwnChanges:
    """What is written in a function. Raises Boundless where something may change that cannot be named."""
    return _Looking(machine, modules, classes, function).found()


class _Looking:
    """One function, looked at from its first line to its last."""

    def __init__(self, machine: Machine, modules: Mapping[str, Module], classes: Classes, function: Function) -> None:
        node = function.node
        if not isinstance(node, ast.FunctionDef):
            raise Boundless
        self.machine = machine
        self.classes = classes
        self.cls = function.cls if isinstance(function.cls, ClassObject) else None
        self.names = Names(machine, modules, function)
        self.variables = Variables(node, classes.is_plain_field)
        self.nested = {each.name for each in self.variables.nodes if isinstance(each, ast.FunctionDef)}
        static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
        self.self = None if static or self.cls is None or not node.args.args else node.args.args[0].arg
        self.written: set[str] = set()
        self.contents = False
        self.calls: list[Function] = []

    def found(self) -> OwnChanges:
        whole = False
        for node in self.variables.nodes:
            match node:
                case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                    raise Boundless
                case ast.Attribute(attr=attribute):
                    if isinstance(node.ctx, ast.Load):
                        whole = whole or attribute == "__dict__"
                    else:
                        self.written.add(attribute)
                    self.calls += [f for f, cls in self.classes.methods(attribute) if _is_property(cls, attribute)]
                case ast.Constant(value="__dict__"):
                    whole = True
                case ast.Subscript(value=owner) if not isinstance(node.ctx, ast.Load):
                    self._contents_of(owner)
                case ast.Call():
                    whole = whole or getattr(node.func, "id", "") in ("vars", "globals", "locals")
                    self._call(node)
        if whole and self.contents:
            raise Boundless
        return OwnChanges(frozenset(self.written), self.contents, tuple(self.calls))

    def _contents_of(self, owner: ast.expr) -> None:
        """Entries of a list or a dictionary are written."""
        if isinstance(self.names.meant(owner), (External, Module, Native)):
            # `os.environ[...] = ...` and the like are no attributes.
            raise Boundless
        if not (isinstance(owner, ast.Name) and owner.id in self.variables.fresh):
            self.contents = True

    def _call(self, call: ast.Call) -> None:
        self._handed_on(call)
        func = call.func
        if isinstance(func, ast.Name) and func.id in ("setattr", "super"):
            if func.id == "setattr":
                self.written |= self.variables.texts(call.args[1:2])
            return
        found = self.names.meant(func)
        if isinstance(found, (Native, External)):
            self._library(found.name, call)
        elif isinstance(found, Function):
            self.calls.append(found)
        elif isinstance(found, ClassObject):
            self._made(found)
        elif isinstance(func, ast.Attribute):
            self._method(func, call)
        elif isinstance(func, ast.Name) and func.id == self.self and self.cls is not None:
            # A class method makes an object of its class.
            for hook in HOOKS:
                self.calls += self.classes.related_methods(self.cls, hook)
        elif not (isinstance(func, ast.Name) and func.id in self.nested):
            raise Boundless

    def _handed_on(self, call: ast.Call) -> None:
        """Functions and methods that are passed may be called."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not isinstance(argument, (ast.Name, ast.Attribute)):
                continue
            found = self.names.meant(argument)
            if isinstance(found, Function):
                self.calls.append(found)
            elif isinstance(argument, ast.Attribute) and found is MISSING:
                self.calls += [function for function, _ in self.classes.methods(argument.attr)]

    def _library(self, name: str, call: ast.Call) -> None:
        if name.endswith("object.__setattr__"):
            self.written |= self.variables.texts(call.args[1:2])
            return
        match effect(name):
            case Effect.FILLS:
                self.contents |= not self.variables.are_own(call)
            case Effect.ANYTHING if not self.variables.are_unchangeable(call):
                raise Boundless
            case Effect.RUNS:
                raise Boundless

    def _made(self, cls: ClassObject) -> None:
        if opaque(self.machine, cls) and not has_fields(self.machine, cls):
            raise Boundless
        for hook in (*HOOKS, "__call__"):
            found, _ = lookup(self.machine, cls, hook)
            self.calls += functions_of(found)

    def _method(self, func: ast.Attribute, call: ast.Call) -> None:
        name, receiver = func.attr, func.value
        if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
            if name == "__setattr__":
                self.written |= self.variables.texts(call.args[:1])
                return
            found = self._of_its_classes(name)
        elif isinstance(receiver, ast.Name) and receiver.id == self.self:
            found = self._of_its_classes(name)
            if not found:
                raise Boundless
        elif (kind := self._annotated(receiver)) is not None:
            self._library(f"{kind}.{name}", call)
            return
        else:
            found = [function for function, _ in self.classes.methods(name)]
        self.calls += found
        worst = effect_of_method(name)
        if name == "pop" and getattr(receiver, "attr", "") == "__dict__":
            self.written |= self.variables.texts(call.args[:1])
        elif worst is Effect.FILLS:
            self._contents_of(receiver)
        elif worst > Effect.FILLS and not (found or self.variables.are_own(call) or _makes_container(call)):
            raise Boundless

    def _of_its_classes(self, name: str) -> list[Function]:
        """The methods of this name of the function's own class, its bases, and the classes derived from it."""
        if self.cls is None:
            raise Boundless
        return self.classes.related_methods(self.cls, name)

    def _annotated(self, receiver: ast.expr) -> str | None:
        """The class of a package out of sight that a parameter is said to be of."""
        note = self.variables.annotations.get(receiver.id) if isinstance(receiver, ast.Name) else None
        kind = None if note is None else self.names.meant(note)
        if not isinstance(kind, External) or kind.name.startswith(OF_ANY_CLASS):
            return None
        return kind.name


def _makes_container(call: ast.Call) -> bool:
    """Whether a call makes another container of a container's class: no other class is made of a generator."""
    match call:
        case ast.Call(func=ast.Attribute(attr="__class__"), args=[ast.GeneratorExp()], keywords=[]):
            return True
    return False


def _is_property(cls: ClassObject, name: str) -> bool:
    found = cls.fields.get(name)
    return isinstance(found, Descriptor) and found.kind == "property"
