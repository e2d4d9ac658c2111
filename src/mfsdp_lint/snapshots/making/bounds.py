"""What a function of upstream may change at most, by what is written in it and in all that it may call.

For functions that cannot be evaluated without their arguments (`ConfigContainer.to_yaml`, `comm_overlap.setup`): an
attribute whose name is written nowhere in reach is still what it was. Which object is written is not looked at, so the
bound holds for every object that the arguments lead to.
"""

from __future__ import annotations

import ast
import builtins
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, mro, namespace, opaque
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.harmless import changes_nothing
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Descriptor, External, Function, Native, Object
from mfsdp_lint.snapshots.making.encode import UNKNOWN
from mfsdp_lint.snapshots.snapshot import Node

MUTATORS = frozenset(
    ("append", "extend", "insert", "pop", "popitem", "remove", "clear", "update", "add", "discard", "setdefault",
     "sort", "reverse", "difference_update", "intersection_update", "symmetric_difference_update", "move_to_end"),
)  # fmt: skip
BUILT_IN = (str, dict, list, tuple, set, frozenset, int, float, bytes, io.TextIOWrapper)
READERS = frozenset(name for kind in BUILT_IN for name in dir(kind)) - MUTATORS
LOGGING = frozenset(("debug", "info", "warning", "error", "exception", "critical", "log"))
CONTENTS_ONLY = frozenset((*sys.stdlib_module_names, "builtins", "yaml", "omegaconf", "packaging", "tqdm"))
"""Packages beside those of `changes_nothing` whose functions write no attribute of an object that they are given.

Those that do are told apart here; and what they are handed to call is looked at as well.
"""
ANY_CODE = frozenset(("exec", "eval", "compile", "__import__", "delattr"))
PLAIN_WORDS = frozenset(("str", "int", "bool", "float", "bytes", "None", "Optional", "Union", "Literal", "Path"))
CONTAINER_WORDS = frozenset(("dict", "Dict", "list", "List", "tuple", "Tuple", "set", "Set", "Any"))
MOST_FUNCTIONS = 400
"""Functions in reach; of one with more, nothing is told."""


class Boundless(Exception):
    """Something may change that cannot be named."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The names of the attributes that may be written, whether contents of lists and dictionaries may, the result."""

    names: frozenset[str]
    contents: bool
    result: Node

    def described(self) -> list[Node]:
        """As a snapshot keeps it."""
        return [sorted(self.names), self.contents, self.result]


@dataclass(frozen=True, slots=True)
class _Own:
    """What a function does itself, and what it may call."""

    names: frozenset[str]
    contents: bool
    calls: tuple[Function, ...]


class Bounds:
    """The bounds of the functions of these modules."""

    def __init__(self, machine: Machine, modules: Mapping[str, Module]) -> None:
        self.machine = machine
        self.modules = modules
        self._methods: dict[str, list[tuple[Function, ClassObject]]] | None = None
        self._own: dict[int, tuple[Function, _Own | None]] = {}
        self._plain: frozenset[str] | None = None
        self._bases: set[int] | None = None

    def of(self, function: Function) -> Bound | None:
        """What a call may change at most; None where it may be anything."""
        try:
            result = _result(function)
        except Boundless:
            return None
        seen: dict[int, Function] = {}
        todo = [function]
        names: set[str] = set()
        contents = False
        while todo:
            each = todo.pop()
            if id(each) in seen:
                continue
            seen[id(each)] = each
            own = self._alone(each)
            if own is None or len(seen) > MOST_FUNCTIONS:
                return None
            names |= own.names
            contents |= own.contents
            todo += own.calls
        return Bound(frozenset(names), contents, result)

    def methods(self, name: str) -> list[tuple[Function, ClassObject]]:
        """The methods and properties of this name of all classes with fields: configurations and their parts."""
        if self._methods is None:
            self._methods = {}
            for cls in self._classes():
                for key, value in namespace(self.machine, cls).items():
                    for function in _functions(value):
                        self._methods.setdefault(key, []).append((function, cls))
        return self._methods.get(name, [])

    def _classes(self) -> Iterator[ClassObject]:
        for module in self.modules.values():
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    cls = _global(self.machine, module, node.name)
                    if isinstance(cls, ClassObject) and cls.module is module and has_fields(self.machine, cls):
                        yield cls

    def depends_on_class(self, method: Function, cls: ClassObject) -> bool:
        """Whether a method does something else for the classes derived from its own, by their fields or methods."""
        if not self._derived(cls):
            return False
        seen: set[int] = set()
        todo = [method]
        while todo:
            each = todo.pop()
            if id(each) in seen or not isinstance(each.node, ast.FunctionDef) or not each.node.args.args:
                continue
            seen.add(id(each))
            self_name = each.node.args.args[0].arg
            called = set(_own_attributes(each.node, self_name))
            if None in called:
                return True
            for name in called:
                found = [
                    (function, other) for function, other in self.methods(str(name)) if cls in mro(self.machine, other)
                ]
                if any(other is not cls for _, other in found):
                    return True
                todo += _functions(lookup(self.machine, cls, str(name))[0])
        return False

    def _derived(self, cls: ClassObject) -> bool:
        if self._bases is None:
            self._bases = {id(base) for each in self._classes() for base in mro(self.machine, each)[1:]}
        return id(cls) in self._bases

    def is_plain_field(self, name: str) -> bool:
        """Whether every class that declares a field of this name says that it is a number, a text or the like."""
        if self._plain is None:
            notes: dict[str, bool] = {}
            for cls in self._classes():
                for node in cls.node.body if cls.node is not None else ():
                    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                        notes[node.target.id] = notes.get(node.target.id, True) and _is_plain_type(node.annotation)
            self._plain = frozenset(name for name, plain in notes.items() if plain)
        return name in self._plain

    def _alone(self, function: Function) -> _Own | None:
        if id(function) not in self._own:
            try:
                own = _Reading(self, function).own()
            except Boundless:
                own = None
            self._own[id(function)] = function, own
        return self._own[id(function)][1]


def _functions(value: Object) -> Iterator[Function]:
    for one in (value.function, value.setter) if isinstance(value, Descriptor) else (value,):
        if isinstance(one, Function):
            yield one


def _global(machine: Machine, module: Module, name: str) -> Object:
    machine.path.steps = 0
    try:
        return resolve_global(machine, module, name)
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return MISSING


class _Reading:
    """One function, read from its first line to its last."""

    def __init__(self, bounds: Bounds, function: Function) -> None:
        node = function.node
        if not isinstance(node, ast.FunctionDef):
            raise Boundless
        self.bounds = bounds
        self.function = function
        self.names: set[str] = set()
        self.contents = False
        self.calls: list[Function] = []
        self.inside = list(ast.walk(node))
        self.locals = _bound_names(node)
        self.imported = dict(self._imports())
        stored = set(_stored(node))
        self.plain = {each.arg for each in _parameters(node) if _is_plain_type(each.annotation)} - stored
        notes = {argument.arg: argument.annotation for argument in _parameters(node)}
        self.annotations = {name: note for name, note in notes.items() if note is not None and name not in stored}
        self.nested = {each.name for each in self.inside if isinstance(each, ast.FunctionDef)}
        self.fresh = self.locals - {argument.arg for argument in _parameters(node)} - self._shared()

    def own(self) -> _Own:
        whole = False
        for node in self.inside:
            match node:
                case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                    raise Boundless
                case ast.Attribute(attr=attribute, ctx=ast.Load()):
                    whole = whole or attribute == "__dict__"
                    self.calls += [f for f, cls in self.bounds.methods(attribute) if _is_property(cls, attribute)]
                case ast.Attribute(attr=attribute):
                    self.names.add(attribute)
                    self.calls += [f for f, cls in self.bounds.methods(attribute) if _is_property(cls, attribute)]
                case ast.Subscript(value=owner) if not isinstance(node.ctx, ast.Load):
                    self._contents_of(owner)
                case ast.Call():
                    whole = whole or getattr(node.func, "id", "") in ("vars", "globals", "locals")
                    self._call(node)
        if whole and self.contents:
            raise Boundless
        return _Own(frozenset(self.names), self.contents, tuple(self.calls))

    def _contents_of(self, owner: ast.expr) -> None:
        """Entries of a list or a dictionary are written."""
        found = self._meant(owner)
        if isinstance(found, (External, Module, Native)):
            # `os.environ[...] = ...` and the like are no attributes.
            raise Boundless
        if not (isinstance(owner, ast.Name) and owner.id in self.fresh):
            self.contents = True

    def _shared(self) -> set[str]:
        """Local names that may stand for something that the function has not made itself."""
        found = set()
        for node in self.inside:
            match node:
                case ast.Assign(targets=targets, value=value) if _is_new(value):
                    plain = {target.id for target in targets if isinstance(target, ast.Name)}
                    found |= {name for target in targets for name in _stored(target)} - plain
                case ast.AnnAssign(target=ast.Name(), value=value) if value is None or _is_new(value):
                    continue
                case (
                    ast.Assign() | ast.AnnAssign() | ast.For() | ast.withitem() | ast.NamedExpr() | ast.comprehension()
                ):
                    found |= set(_stored(node))
        return found

    def _imports(self) -> Iterator[tuple[str, Object]]:
        for node in self.inside:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                module = self.bounds.modules.get(node.module)
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found: Object = self.bounds.modules.get(full, MISSING)
                    if found is MISSING and module is not None:
                        found = _global(self.bounds.machine, module, alias.name)
                    yield alias.asname or alias.name, External(full) if found is MISSING else found
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    full = alias.name if alias.asname else name
                    yield name, self.bounds.modules.get(full, External(full))

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, call: ast.Call) -> None:
        self._handed_on(call)
        func = call.func
        if isinstance(func, ast.Name) and func.id in ("setattr", "super"):
            if func.id == "setattr":
                self.names |= self._texts(call.args[1:2])
            return
        found = self._meant(func)
        if isinstance(found, (Native, External)):
            self._library(found.name, call)
        elif isinstance(found, Function):
            self.calls.append(found)
        elif isinstance(found, ClassObject):
            self._made(found)
        elif isinstance(func, ast.Attribute):
            self._method(func, call)
        elif isinstance(func, ast.Name) and func.id == self._self() and isinstance(self.function.cls, ClassObject):
            # A class method makes an object of its class.
            for hook in ("__new__", "__init__", "__post_init__"):
                self.calls += self._of_its_classes(hook)
        elif not (isinstance(func, ast.Name) and func.id in self.nested):
            raise Boundless

    def _library(self, name: str, call: ast.Call) -> None:
        if name.endswith("object.__setattr__"):
            self.names |= self._texts(call.args[1:2])
        elif name.removeprefix("builtins.") in ANY_CODE or not (
            changes_nothing(name) or name.partition(".")[0] in CONTENTS_ONLY or self._is_plain(call)
        ):
            raise Boundless

    def _made(self, cls: ClassObject) -> None:
        if opaque(self.bounds.machine, cls) and not has_fields(self.bounds.machine, cls):
            raise Boundless
        for hook in ("__new__", "__init__", "__post_init__", "__call__"):
            found, _ = lookup(self.bounds.machine, cls, hook)
            self.calls += _functions(found)

    def _method(self, func: ast.Attribute, call: ast.Call) -> None:
        name = func.attr
        if isinstance(func.value, ast.Call) and getattr(func.value.func, "id", "") == "super":
            if name == "__setattr__":
                self.names |= self._texts(call.args[:1])
                return
            found = self._of_its_classes(name)
        elif isinstance(func.value, ast.Name) and func.value.id == self._self():
            found = self._of_its_classes(name)
            if not found:
                raise Boundless
        elif isinstance(kind := self._annotated(func.value), External):
            self._library(f"{kind.name}.{name}", call)
            return
        else:
            found = [function for function, _ in self.bounds.methods(name)]
        self.calls += found
        if name == "pop" and getattr(func.value, "attr", "") == "__dict__":
            self.names |= self._texts(call.args[:1])
        elif name in MUTATORS:
            self._contents_of(func.value)
        elif not found and name not in READERS | LOGGING and not self._is_plain(call):
            raise Boundless

    def _annotated(self, receiver: ast.expr) -> Object:
        """The class of a package out of sight that a parameter is said to be of."""
        if isinstance(receiver, ast.Name) and receiver.id in self.annotations:
            return self._meant(self.annotations[receiver.id])
        return MISSING

    def _is_plain(self, call: ast.Call) -> bool:
        """Whether nothing that could be changed is passed."""
        return all(map(self._is_unchangeable, (*call.args, *(keyword.value for keyword in call.keywords))))

    def _is_unchangeable(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.Name(id=name):
                return name in self.plain or name in self.fresh
            case ast.Attribute(attr=name):
                return self.bounds.is_plain_field(name)
        return False

    def _self(self) -> str | None:
        node = self.function.node
        static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
        if static or not node.args.args or not isinstance(self.function.cls, ClassObject):
            return None
        return str(node.args.args[0].arg)

    def _of_its_classes(self, name: str) -> list[Function]:
        """The methods of this name of the function's own class, its bases, and the classes derived from it."""
        cls = self.function.cls
        if not isinstance(cls, ClassObject):
            raise Boundless
        machine = self.bounds.machine
        above = mro(machine, cls)
        found = [
            function for function, other in self.bounds.methods(name) if other in above or cls in mro(machine, other)
        ]
        own, _ = lookup(machine, cls, name)
        return [*found, *_functions(own)]

    def _handed_on(self, call: ast.Call) -> None:
        """Functions that are passed may be called."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(argument, (ast.Name, ast.Attribute)):
                found = self._meant(argument)
                if isinstance(found, Function):
                    self.calls.append(found)

    def _meant(self, node: ast.expr) -> Object:
        """The global, or part of a module or class, that an expression names; MISSING for anything else."""
        machine = self.bounds.machine
        if isinstance(node, ast.Name):
            if node.id in self.imported:
                return self.imported[node.id]
            if node.id in self.locals:
                return MISSING
            found = _global(machine, self.function.module, node.id)
            if found is MISSING and hasattr(builtins, node.id):
                return External(f"builtins.{node.id}")
            return found
        if not isinstance(node, ast.Attribute):
            return MISSING
        owner = self._meant(node.value)
        if isinstance(owner, Module):
            return self.bounds.modules.get(f"{owner.name}.{node.attr}") or _global(machine, owner, node.attr)
        if isinstance(owner, (External, Native)):
            return External(f"{owner.name}.{node.attr}")
        if isinstance(owner, ClassObject):
            found, _ = lookup(machine, owner, node.attr)
            return next(_functions(found), MISSING)
        return MISSING

    def _texts(self, names: list[ast.expr]) -> set[str]:
        """The names that a computed one may be."""
        match names:
            case [ast.Constant(value=str(name))]:
                return {name}
            case [ast.Name(id=variable)]:
                return self._looped(variable)
        raise Boundless

    def _looped(self, variable: str) -> set[str]:
        loops = [node for node in self.inside if isinstance(node, ast.For) and variable in _stored(node.target)]
        found = set()
        for loop in loops:
            match loop:
                case ast.For(target=ast.Name(), iter=ast.Tuple(elts=items) | ast.List(elts=items)):
                    found |= {item.value for item in items if isinstance(item, ast.Constant)}
                    if len(found) < len(items):
                        raise Boundless
                case _:
                    raise Boundless
        stores = [node for node in self.inside if isinstance(node, ast.Name) and node.id == variable]
        if not loops or sum(isinstance(node.ctx, ast.Store) for node in stores) > len(loops):
            raise Boundless
        return {name for name in found if isinstance(name, str)}


def _own_attributes(function: ast.FunctionDef, name: str) -> Iterator[str | None]:
    """The attributes that are read of a variable; None where it is handed on itself, or its class is asked for."""
    owners = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            owners.add(id(node.value))
            yield None if node.attr.startswith("__") else node.attr
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "getattr",
            "hasattr",
            "setattr",
            "isinstance",
        ):
            constant = len(node.args) > 1 and (isinstance(node.args[1], ast.Constant) or node.func.id == "isinstance")  # type: ignore[attr-defined]
            owners |= {id(node.args[0])} if constant else set()
    if any(isinstance(node, ast.Name) and node.id == name and id(node) not in owners for node in ast.walk(function)):
        yield None


def _is_property(cls: ClassObject, name: str) -> bool:
    found = cls.fields.get(name)
    return isinstance(found, Descriptor) and found.kind == "property"


def _parameters(node: ast.FunctionDef) -> list[ast.arg]:
    arguments = node.args
    others = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *others]


def _stored(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _bound_names(function: ast.FunctionDef) -> set[str]:
    """All names that are local to a function or to one inside it."""
    found = set(_stored(function))
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def _is_new(node: ast.expr) -> bool:
    """Whether an expression makes a list, a dictionary or a value of its own."""
    new = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp,
           ast.Constant, ast.JoinedStr)  # fmt: skip
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("list", "dict", "set", "sorted", "str", "int", "float", "len", "bool", "defaultdict")
    return isinstance(node, new)


# -- results -----------------------------------------------------------------------------------------------------------


def _result(function: Function) -> Node:
    """A node of what a call gives: None, one of the arguments, or something unknown that is none of them nor a part.

    Raises Boundless for anything else: what is done with a part of an argument is done with the argument.
    """
    node = function.node
    if not isinstance(node, ast.FunctionDef) or any(map(_yields, _body(node))):
        raise Boundless
    values = [each.value for each in _body(node) if isinstance(each, ast.Return) and each.value is not None]
    if all(isinstance(value, ast.Constant) and value.value is None for value in values):
        return None
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    parameters = {argument.arg for argument in _parameters(node)}
    if len(names) == 1 and names <= parameters and not names & set(_stored(node)):
        return ["arg", names.pop()]
    words = _words(node.returns)
    plain = bool(words) and words != {"Any"} and words <= CONTAINER_WORDS | PLAIN_WORDS
    if plain or all(map(_is_scalar, values)):
        return UNKNOWN
    raise Boundless


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _yields(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def _is_plain_type(annotation: ast.expr | None) -> bool:
    words = _words(annotation)
    return bool(words) and words <= PLAIN_WORDS


def _words(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    nodes: Iterable[ast.AST] = ast.walk(annotation)
    return {str(getattr(each, "id", getattr(each, "attr", getattr(each, "value", "")))) for each in nodes
            if isinstance(each, (ast.Name, ast.Attribute, ast.Constant))}  # fmt: skip


def _is_scalar(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
