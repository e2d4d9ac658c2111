"""Bounds of the changes by functions of upstream, from their code.

`ChangeBounds` is for functions that cannot be evaluated without their arguments (`ConfigContainer.to_yaml`,
`comm_overlap.setup`): an attribute whose name is written nowhere in reach keeps its value. The bound ignores which
object is written, so it holds for every object that the arguments lead to.

`touched` is for a `__post_init__` that is too long to be summarised (that of Megatron-Core's TransformerConfig has
1,600 lines in 0.19): a field that it does not touch keeps its passed or declared value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, opaque
from mfsdp_lint.readers.python.state.effects import Effect, effect, effect_of_method
from mfsdp_lint.readers.python.state.interpreter import Interpreter
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
from tools.snapshot.meaning import (
    Boundless,
    Classes,
    Names,
    functions_of,
    is_plain,
    parameters,
    result,
    stored,
    texts_in,
)

NEW = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp,
       ast.Constant, ast.JoinedStr)  # fmt: skip
MAKERS = frozenset(("list", "dict", "set", "sorted", "str", "int", "float", "len", "bool", "defaultdict"))
"""Functions whose result is a list, a dictionary or a value of its own."""


class Variables:
    """The variables of one function. `is_plain_field` says which fields hold nothing that can be changed."""

    def __init__(self, function: ast.FunctionDef, is_plain_field: Callable[[str], bool]) -> None:
        self.nodes = list(ast.walk(function))
        self.is_plain_field = is_plain_field
        given = parameters(function)
        assigned = set(stored(function))
        self.plain = {each.arg for each in given if is_plain(each.annotation)} - assigned
        self.annotations = {
            each.arg: each.annotation for each in given if each.annotation is not None and each.arg not in assigned
        }
        self.fresh = assigned - {each.arg for each in given} - self._shared()
        """Those that hold only lists, dictionaries and values that the function has made itself."""

    def are_unchangeable(self, call: ast.Call) -> bool:
        """Tell whether all arguments are immutable."""
        return all(map(self._is_unchangeable, _passed(call)))

    def are_own(self, call: ast.Call) -> bool:
        """Tell whether every argument is immutable, or a list or a dictionary that the function has made itself.

        Such a container may hold other objects, which a call that looks into it can change.
        """
        return all(
            self._is_unchangeable(each) or (isinstance(each, ast.Name) and each.id in self.fresh)
            for each in _passed(call)
        )

    def texts(self, names: Sequence[ast.expr]) -> set[str]:
        """Collect the texts that an expression may be. Raises Boundless if that is not certain."""
        match names:
            case [ast.Constant(value=str(name))]:
                return {name}
            case [ast.Name(id=variable)]:
                return self._looped(variable)
        raise Boundless

    def _is_unchangeable(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.Name(id=name):
                return name in self.plain
            case ast.Attribute(attr=name):
                return self.is_plain_field(name)
        return False

    def _shared(self) -> set[str]:
        """Collect local names that may refer to an object that the function has not made itself."""
        found = set()
        for node in self.nodes:
            match node:
                case ast.Assign(targets=targets, value=value) if _is_new(value):
                    plain = {target.id for target in targets if isinstance(target, ast.Name)}
                    found |= {name for target in targets for name in stored(target)} - plain
                case ast.AnnAssign(target=ast.Name(), value=value) if value is None or _is_new(value):
                    continue
                case (
                    ast.Assign() | ast.AnnAssign() | ast.For() | ast.withitem() | ast.NamedExpr() | ast.comprehension()
                ):
                    found |= set(stored(node))
        return found

    def _looped(self, variable: str) -> set[str]:
        """Collect the values of a variable that only loops over texts assign. Raises Boundless for any other loop."""
        loops = [node for node in self.nodes if isinstance(node, ast.For) and variable in stored(node.target)]
        found = set()
        for loop in loops:
            match loop:
                case ast.For(target=ast.Name(), iter=ast.Tuple(elts=items) | ast.List(elts=items)):
                    texts = [item.value for item in items if isinstance(item, ast.Constant)]
                    if len(texts) < len(items):
                        raise Boundless
                    found |= {text for text in texts if isinstance(text, str)}
                case _:
                    raise Boundless
        stores = [node for node in self.nodes if isinstance(node, ast.Name) and node.id == variable]
        if not loops or sum(isinstance(node.ctx, ast.Store) for node in stores) > len(loops):
            raise Boundless
        return found


def _passed(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_new(node: ast.expr) -> bool:
    """Tell whether an expression makes a list, a dictionary or a value of its own."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in MAKERS
    return isinstance(node, NEW)


HOOKS = ("__new__", "__init__", "__post_init__")
"""The methods that making an object calls."""
OF_ANY_CLASS = ("builtins.object", "typing.", "typing_extensions.", "collections.abc.")
"""Annotations by which an object may be of any class, or of many."""


class OwnChanges:
    """The changes in a function's own code, found by a scan from its first line to its last.

    `written` are the attributes that are written, `contents` says that entries of lists and dictionaries are, `calls`
    are the functions that it may call. Raises Boundless if something that cannot be named may change.
    """

    def __init__(
        self, interp: Interpreter, modules: Mapping[str, Module], classes: Classes, function: Function
    ) -> None:
        node = function.node
        if not isinstance(node, ast.FunctionDef):
            raise Boundless
        self.interp = interp
        self.classes = classes
        self.cls = function.cls if isinstance(function.cls, ClassObject) else None
        self.names = Names(interp, modules, function)
        self.variables = Variables(node, classes.is_plain_field)
        self.nested = {each.name for each in self.variables.nodes if isinstance(each, ast.FunctionDef)}
        static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
        self.self = None if static or self.cls is None or not node.args.args else node.args.args[0].arg
        self.written: set[str] = set()
        self.contents = False
        self.calls: list[Function] = []
        self._scan()

    def _scan(self) -> None:
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
                    self.calls += [
                        function
                        for function, cls in self.classes.methods(attribute)
                        if isinstance(found := cls.fields.get(attribute), Descriptor) and found.kind == "property"
                    ]
                case ast.Constant(value="__dict__"):
                    whole = True
                case ast.Subscript(value=owner) if not isinstance(node.ctx, ast.Load):
                    self._contents_of(owner)
                case ast.Call():
                    whole = whole or getattr(node.func, "id", "") in ("vars", "globals", "locals")
                    self._call(node)
        if whole and self.contents:
            raise Boundless

    def _contents_of(self, owner: ast.expr) -> None:
        """Record that entries of a container are written. Raises Boundless for those of a module or the like."""
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
        """Record functions and methods that are passed: they may be called."""
        for argument in _passed(call):
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
        if opaque(self.interp, cls) and not has_fields(self.interp, cls):
            raise Boundless
        for hook in (*HOOKS, "__call__"):
            found, _ = lookup(self.interp, cls, hook)
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
        elif worst > Effect.FILLS and not (found or self.variables.are_own(call)):
            match call:
                case ast.Call(func=ast.Attribute(attr="__class__"), args=[ast.GeneratorExp()], keywords=[]):
                    return  # another container of a container's class: no other class is made of a generator
            raise Boundless

    def _of_its_classes(self, name: str) -> list[Function]:
        """Find the methods of this name in the function's class, its bases, and those derived from it."""
        if self.cls is None:
            raise Boundless
        return self.classes.related_methods(self.cls, name)

    def _annotated(self, receiver: ast.expr) -> str | None:
        """Find the class of an unread package that a parameter's annotation names; None if there is none."""
        note = self.variables.annotations.get(receiver.id) if isinstance(receiver, ast.Name) else None
        kind = None if note is None else self.names.meant(note)
        if not isinstance(kind, External) or kind.name.startswith(OF_ANY_CLASS):
            return None
        return kind.name


MOST_FUNCTIONS = 400
"""Functions in reach; of one with more, nothing is told."""


@dataclass(frozen=True, slots=True)
class ChangeBound:
    """The names of the attributes that may be written, whether contents of lists and dictionaries may, the result."""

    names: frozenset[str]
    contents: bool
    result: Node

    def described(self) -> list[Node]:
        """Describe the bound as a snapshot keeps it."""
        return [sorted(self.names), self.contents, self.result]


class ChangeBounds:
    """The bounds of the functions of these modules, which may be more when it is asked."""

    def __init__(self, interp: Interpreter, modules: Mapping[str, Module]) -> None:
        self.interp = interp
        self.modules = modules
        self.classes = Classes(interp, modules)
        self._own: dict[int, tuple[Function, OwnChanges | None]] = {}

    def of(self, function: Function) -> ChangeBound | None:
        """Find the bound of a call's changes; None if it may change anything."""
        try:
            given = result(function)
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
            if id(each) not in self._own:
                own = None
                with suppress(Boundless):
                    own = OwnChanges(self.interp, self.modules, self.classes, each)
                self._own[id(each)] = each, own
            _, own = self._own[id(each)]
            if own is None or len(seen) > MOST_FUNCTIONS:
                return None
            names |= own.written
            contents |= own.contents
            todo += own.calls
        return ChangeBound(frozenset(names), contents, given)


def touched(
    interp: Interpreter, modules: Mapping[str, Module], cls: ClassObject, method: Function, owner: Object
) -> set[str] | None:
    """Find the attributes of `self` that a method (which `owner` has) may change; None if that is not certain.

    A computed name is one of those that the functions involved write down as a text.
    """
    try:
        return set(_Touching(interp, modules, cls).by(method, owner))
    except Boundless:
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
            raise Boundless
        self_name = method.node.args.args[0].arg
        names = Names(self.interp, self.modules, method)
        accounted: set[int] = set()
        for node in ast.walk(method.node):
            match node:
                case ast.Attribute(value=ast.Name(id=name) as subject, attr=attribute) if name == self_name:
                    accounted.add(id(subject))
                    if attribute == "__dict__":
                        raise Boundless
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
            raise Boundless

    def _method(self, found: tuple[Object, Object]) -> Iterator[str]:
        method, owner = found
        if isinstance(method, Function):
            yield from self.by(method, owner)
        elif method is not MISSING or opaque(self.interp, self.cls):
            raise Boundless


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
    for argument in _passed(call):
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
