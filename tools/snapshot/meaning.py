"""Meaning of upstream's code, unevaluated: names, annotations, results of functions, classes and their methods."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, mro, namespace
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    ClassObject,
    Descriptor,
    External,
    Function,
    Module,
    Native,
    Object,
)
from mfsdp_lint.snapshots import Node
from tools.snapshot.encode import UNKNOWN


def is_summarised(module: str) -> bool:
    """Tell whether the functions of a module are worth a summary: Megatron-Core's build models, not configurations."""
    return module.startswith("megatron.bridge")


class Names:
    """The names that one function sees."""

    def __init__(self, interp: Interpreter, modules: Mapping[str, Module], function: Function) -> None:
        self.interp = interp
        self.modules = modules
        self.module = function.module
        self.local = _bound(function.node)
        self.imported = dict(self._imports(function.node))

    def meant(self, node: ast.expr) -> Object:
        """Find the global, or part of a module or class, that an expression names; MISSING for anything else."""
        if isinstance(node, ast.Name):
            if node.id in self.imported:
                return self.imported[node.id]
            if node.id in self.local:
                return MISSING
            found = global_of(self.interp, self.module, node.id)
            if found is MISSING and hasattr(builtins, node.id):
                return External(f"builtins.{node.id}")
            return found
        if not isinstance(node, ast.Attribute):
            return MISSING
        owner = self.meant(node.value)
        if isinstance(owner, Module):
            return self.modules.get(f"{owner.name}.{node.attr}") or global_of(self.interp, owner, node.attr)
        if isinstance(owner, (External, Native)):
            return External(f"{owner.name}.{node.attr}")
        if isinstance(owner, ClassObject):
            found, _ = lookup(self.interp, owner, node.attr)
            return next(functions_of(found), MISSING)
        return MISSING

    def _imports(self, function: ast.AST) -> Iterator[tuple[str, Object]]:
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                module = self.modules.get(node.module)
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found: Object = self.modules.get(full, MISSING)
                    if found is MISSING and module is not None:
                        found = global_of(self.interp, module, alias.name)
                    yield alias.asname or alias.name, External(full) if found is MISSING else found
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    full = alias.name if alias.asname else name
                    yield name, self.modules.get(full, External(full))


def global_of(interp: Interpreter, module: Module, name: str) -> Object:
    """Return a global of a module; MISSING if it has none of this name, or its value cannot be computed."""
    interp.path.steps = 0
    try:
        return resolve_global(interp, module, name)
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return MISSING


def functions_of(value: Object) -> Iterator[Function]:
    """Yield the functions that an attribute of a class is, or runs when it is read or assigned."""
    for one in (value.function, value.setter) if isinstance(value, Descriptor) else (value,):
        if isinstance(one, Function):
            yield one


def texts_in(tree: ast.AST) -> Iterator[str]:
    """Yield the texts that a piece of code spells."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


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


PLAIN_WORDS = frozenset(("str", "int", "bool", "float", "bytes", "None", "Optional", "Union", "Literal", "Path"))
CONTAINER_WORDS = frozenset(("dict", "Dict", "list", "List", "tuple", "Tuple", "set", "Set", "Any"))


def is_plain(annotation: ast.expr | None) -> bool:
    """Tell whether the annotation says that a value is a number, a text or the like."""
    words = _words(annotation)
    return bool(words) and words <= PLAIN_WORDS


def is_plain_or_container(annotation: ast.expr | None) -> bool:
    """Tell whether the annotation says that a value is a number, a text, or a list or a dictionary."""
    words = _words(annotation)
    return bool(words) and words != {"Any"} and words <= CONTAINER_WORDS | PLAIN_WORDS


def _words(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    return {
        str(getattr(each, "id", getattr(each, "attr", getattr(each, "value", ""))))
        for each in ast.walk(annotation)
        if isinstance(each, (ast.Name, ast.Attribute, ast.Constant))
    }


class Boundless(Exception):
    """The error for a function that may change or return something that cannot be named."""


def result(function: Function) -> Node:
    """Describe the result of a call as a node: None, one of the arguments, or an unknown value that is neither an
    argument nor a part of one.

    Raises Boundless for anything else: a change to a part of an argument is a change to the argument.
    """
    node = function.node
    if not isinstance(node, ast.FunctionDef) or any(
        isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _body(node)
    ):
        raise Boundless
    values = [each.value for each in _body(node) if isinstance(each, ast.Return) and each.value is not None]
    if all(isinstance(value, ast.Constant) and value.value is None for value in values):
        return None
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    if len(names) == 1 and names <= {argument.arg for argument in parameters(node)} and not names & set(stored(node)):
        return ["arg", names.pop()]
    if is_plain_or_container(node.returns) or all(map(_is_scalar, values)):
        return UNKNOWN
    raise Boundless


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _is_scalar(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


ASKING = ("getattr", "hasattr", "setattr", "isinstance")
"""Functions that are handed an object for one attribute of it, or for its class."""


class Classes:
    """The classes with fields of these modules. They are looked for when they are first asked for."""

    def __init__(self, interp: Interpreter, modules: Mapping[str, Module]) -> None:
        self.interp = interp
        self.modules = modules
        self._methods: dict[str, list[tuple[Function, ClassObject]]] | None = None
        self._plain: frozenset[str] | None = None
        self._bases: set[int] | None = None

    def methods(self, name: str) -> list[tuple[Function, ClassObject]]:
        """Return the methods and properties of this name, with their classes."""
        if self._methods is None:
            self._methods = {}
            for cls in self._all():
                for key, value in namespace(self.interp, cls).items():
                    for function in functions_of(value):
                        self._methods.setdefault(key, []).append((function, cls))
        return self._methods.get(name, [])

    def related_methods(self, cls: ClassObject, name: str) -> list[Function]:
        """Return the methods of this name of a class, its bases, and the classes derived from it."""
        above = mro(self.interp, cls)
        found = [function for function, other in self.methods(name) if other in above or cls in mro(self.interp, other)]
        own, _ = lookup(self.interp, cls, name)
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
                if any(other is not cls and cls in mro(self.interp, other) for _, other in self.methods(name)):
                    return True
                todo += functions_of(lookup(self.interp, cls, name)[0])
        return False

    def _is_derived_from(self, cls: ClassObject) -> bool:
        if self._bases is None:
            self._bases = {id(base) for each in self._all() for base in mro(self.interp, each)[1:]}
        return id(cls) in self._bases

    def _all(self) -> Iterator[ClassObject]:
        for module in self.modules.values():
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    cls = global_of(self.interp, module, node.name)
                    if isinstance(cls, ClassObject) and cls.module is module and has_fields(self.interp, cls):
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
