"""From an upstream function to its effects: what a call does with its arguments (see snapshots/effects.py).

Only what can reach a configuration is kept: annotations, documentation, log messages and those of errors are left out.
Constants of the module stand for themselves, imported names for what they name, and local names are numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from mfsdp_lint.readers.python.eval.classes import mro, namespace
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    External,
    Function,
    Module,
    Native,
    Object,
)
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.effects import BINARY, COMPARISONS, COMPREHENSIONS, UNARY
from tools.snapshot.encode import SET, UNKNOWN, Encoder, kinds_of_parameters
from tools.snapshot.meaning import Names, global_of, is_summarised
from tools.snapshot.summarise import says_something

OPERATORS = {kind: sign for table in (BINARY, UNARY, COMPARISONS, COMPREHENSIONS) for sign, kind in table.items()}
SILENT = ("logging.", "warnings.", "print")
"""How the names of functions begin that only tell something to people."""


def add_effects(
    interp: Interpreter, modules: Mapping[str, Module], encoder: Encoder, made: dict[str, dict[str, Any]]
) -> None:
    """Add effects to the entries of a snapshot.

    They are those of the functions of which an outcome is known, and of all that these lead to: functions that they
    name, constructors of classes that they name, and methods of such classes that are called by their name.
    """
    reach = _Reach(interp, modules, encoder, made)
    for function, described in _known(interp, modules, made):
        if "outcome" in described and says_something(described["outcome"]):
            reach.add(function, described)
    reach.follow()
    reach.drop_halves()


OWN_WAYS = {"__new__", "__getattr__", "__getattribute__", "__setattr__"}
"""Methods by which a class makes or reads its instances as no other class does."""


class _Reach:
    """The functions whose effects are wanted. `made` are the entries of the snapshot by module and name."""

    def __init__(
        self,
        interp: Interpreter,
        modules: Mapping[str, Module],
        encoder: Encoder,
        made: dict[str, dict[str, Any]],
    ) -> None:
        self.interp = interp
        self.modules = modules
        self.encoder = encoder
        self.made = made
        self.seen: set[int] = set()
        self.waiting: list[tuple[Function, Any]] = []
        self.called: set[str] = {"__init__"}
        self.classes: list[tuple[ClassObject, Any]] = []

    def add(self, function: Function, described: Any) -> None:
        if id(function) not in self.seen:
            self.seen.add(id(function))
            self.waiting.append((function, described))

    def follow(self) -> None:
        while self.waiting:
            function, described = self.waiting.pop()
            arguments = function.node.args
            if not (function.signature.parameters or arguments.vararg or arguments.kwarg):
                continue
            lowered = lower(self.interp, self.modules, self.encoder, function)
            if lowered is None:
                continue
            described["effects"] = lowered.described
            described.setdefault("parameters", parameters_of(self.encoder, function))
            if (home := self.encoder.home(function)) is not None:
                self.made.setdefault(home[0], {}).setdefault(home[1], ["function", described])
            for value in lowered.named:
                self._name(value)
            self._call(lowered.called)

    def drop_halves(self) -> None:
        """Take back the constructors that may call one without effects: nothing would be known of what that does."""
        described = {id(cls): entry for cls, entry in self.classes}
        for cls, entry in self.classes:
            makers = [
                described.get(id(base), {}).get("methods", {}).get("__init__")
                for base in mro(self.interp, cls)
                if isinstance(base, ClassObject) and isinstance(namespace(self.interp, base).get("__init__"), Function)
            ]
            if not all(maker and "effects" in maker for maker in makers):
                entry.get("methods", {}).pop("__init__", None)

    def _name(self, value: Function | ClassObject) -> None:
        if isinstance(value, Function):
            if (home := self.encoder.home(value)) is not None:
                self.add(value, self.made.get(home[0], {}).get(home[1], ["function", {}])[1])
            return
        for cls in mro(self.interp, value):
            if not isinstance(cls, ClassObject) or id(cls) in self.seen:
                continue
            home = self.encoder.home(cls)
            entry = self.made.get(home[0], {}).get(home[1]) if home is not None else None
            if home is not None and entry is not None and is_summarised(home[0]):
                self.seen.add(id(cls))
                self.classes.append((cls, entry[1]))
                self._add_methods(cls, entry[1], self.called)

    def _call(self, names: Set[str]) -> None:
        new = names - self.called
        self.called |= new
        for cls, described in self.classes:
            self._add_methods(cls, described, new)

    def _add_methods(self, cls: ClassObject, described: Any, names: Set[str]) -> None:
        own = namespace(self.interp, cls)
        for name in sorted(names & own.keys()):
            method = own[name]
            if isinstance(method, Function) and (not name.startswith("__") or _is_made_plainly(own, described)):
                methods = described.setdefault("methods", {})
                methods[name] = methods.get(name) or {}
                # That a method changes no attribute holds also where carrying out its effects leads out of sight.
                if methods[name].get("bound", [True])[0] != []:
                    self.add(method, methods[name])


def _is_made_plainly(own: Mapping[Any, Object], described: Any) -> bool:
    """Tell whether making an instance of a class is running its `__init__`, and no generated one besides."""
    return described.get("kind") == "plain" and "fields" not in described and not OWN_WAYS & own.keys()


def parameters_of(encoder: Encoder, function: Function) -> list[Any]:
    """List the parameters of a function, each with the node of its default."""
    defaults = {name: encoder.encode(value) for name, value in function.defaults.items()}
    return [[name, kind, defaults.get(name, ["required"])] for name, kind in kinds_of_parameters(function)]


def _known(
    interp: Interpreter, modules: Mapping[str, Module], made: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Function, Any]]:
    """Yield the functions and methods that have an entry, with it."""
    for module_name, entries in made.items():
        for name, (kind, *told) in entries.items():
            value = global_of(interp, modules[module_name], name) if kind in ("function", "class") else MISSING
            if isinstance(value, Function):
                yield value, told[0]
            elif isinstance(value, ClassObject):
                own = namespace(interp, value)
                for key, described in told[0].get("methods", {}).items():
                    method = own.get(key)
                    if isinstance(method, Function) and "writes" in (described or {}).get("outcome", ()):
                        yield method, described


class NotEffects(Exception):
    """The error for code that has more to it than effects on values: no description of it is made."""


class Lowered(NamedTuple):
    """The effects of a function, the functions and classes that they name, and the names of methods that they call."""

    described: dict[str, Any]
    named: Sequence[Function | ClassObject]
    called: Set[str]


def lower(interp: Interpreter, modules: Mapping[str, Module], encoder: Encoder, function: Function) -> Lowered | None:
    """Describe what a call of a function does; None where there is more to it than effects on values."""
    node, closure = function.node, function.closure
    is_global = closure is None or (closure.is_class and closure.enclosing is None)
    if not isinstance(node, ast.FunctionDef) or not is_global or function.unwrapped is not None:
        return None
    try:
        lowering = _Lowering(Names(interp, modules, function), encoder, node)
        return Lowered(lowering.described(), lowering.named, lowering.called)
    except NotEffects:
        return None


class _Lowering:
    """The description of one function: the numbers of its local names, and the global names that it uses."""

    def __init__(self, names: Names, encoder: Encoder, node: ast.FunctionDef) -> None:
        self.names = names
        self.encoder = encoder
        self.node = node
        arguments = node.args
        variadic = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        self.parameters = {
            each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic)
        }
        self.numbers: dict[str, int] = {}
        self.globals: dict[str, Node] = {}
        self.named: list[Function | ClassObject] = []
        self.called: set[str] = set()

    def described(self) -> dict[str, Any]:
        body = self.block(self.node.body)
        line = self.node.lineno
        made: dict[str, Any] = {"at": [line, (self.node.end_lineno or line) - line], "does": body}
        return made | ({"names": self.globals} if self.globals else {})

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, node: ast.stmt | ast.expr) -> list[int]:
        """Return the line of a piece of code, counted from that of the function, and how many more it has."""
        more = (node.end_lineno or node.lineno) - node.lineno
        first = node.lineno - self.node.lineno
        return [first, more] if more else [first]

    # -- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> list[Any]:
        return [effect for statement in statements for effect in self.statement(statement)]

    def statement(self, node: ast.stmt) -> Iterator[Any]:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case ast.Import() | ast.ImportFrom():
                return  # (Names knows what these bind.)
            case ast.Expr(value=ast.Call(func=called)) if self._only_tells(called):
                return
            case ast.Expr(value=value):
                yield ["do", self.value(value), *self.place(node)]
            case ast.Assign(targets=targets, value=value):
                yield ["set", [self.target(each) for each in targets], self.value(value), *self.place(node)]
            case ast.AnnAssign(value=None):
                return
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield ["set", [self.target(target)], self.value(value), *self.place(node)]
            case ast.AugAssign(target=target, op=op, value=value):
                yield ["add", OPERATORS[type(op)], self.target(target), self.value(value), *self.place(node)]
            case ast.If(test=test, body=body, orelse=orelse):
                yield ["if", self.value(test), self.block(body), self.block(orelse), *self.place(node)]
            case ast.For(target=target, iter=iterable, body=body, orelse=[]):
                yield ["each", self.target(target), self.value(iterable), self.block(body), *self.place(node)]
            case ast.Return(value=value):
                yield ["give", None if value is None else self.value(value), *self.place(node)]
            case ast.Raise(exc=ast.Call(func=error) | (ast.Name() | ast.Attribute() as error)):
                yield ["raise", self.value(error), *self.place(node)]
            case ast.Assert(test=test):
                yield ["require", self.value(test), *self.place(node)]
            case ast.Delete(targets=targets):
                yield ["drop", [self.target(each) for each in targets], *self.place(node)]
            case ast.Break() | ast.Continue():
                yield ["break" if isinstance(node, ast.Break) else "continue", *self.place(node)]
            case ast.With(items=items, body=body):
                managers = [
                    [self.value(item.context_expr), item.optional_vars and self.target(item.optional_vars)]
                    for item in items
                ]
                yield ["with", managers, self.block(body), *self.place(node)]
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final) if not any(
                isinstance(each, (ast.Import, ast.ImportFrom)) for each in body
            ):
                caught = [
                    [
                        each.type and self.value(each.type),
                        None if each.name is None else self.number(each.name),
                        self.block(each.body),
                    ]
                    for each in handlers
                ]
                yield ["try", self.block(body), caught, self.block(orelse), self.block(final), *self.place(node)]
            case ast.FunctionDef(name=name, args=given, body=body, decorator_list=[]):
                yield ["def", self.number(name), *self._inner(given, lambda: self.block(body)), *self.place(node)]
            case _:
                raise NotEffects

    def _only_tells(self, called: ast.expr) -> bool:
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            found = self.names.meant(called.value)
            made = _logger(self.names.module, called.value.id) if called.value.id not in self.names.local else False
            return made or (isinstance(found, External) and f"{found.name}.".startswith(SILENT[:2]))
        return isinstance(called, ast.Name) and called.id == "print" and called.id not in self.names.local

    def target(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return ["$", self.slot(name)]
            case ast.Attribute() | ast.Subscript():
                return self.value(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return ["(", *map(self.target, items)]
            case ast.Starred(value=value):
                return ["*", self.target(value)]
        raise NotEffects

    def slot(self, name: str) -> int | str:
        """Return a parameter's name, or the number of another local name."""
        return name if name in self.parameters else self.number(name)

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    # -- expressions ------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value) if isinstance(value, (bool, int, float, str, type(None))):
                return value
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=owner, attr=name):
                if isinstance(meant := self.names.meant(node), (Function, ClassObject)):
                    self.named.append(meant)
                return [".", self.value(owner), name]
            case ast.Subscript(value=owner, slice=ast.Slice(lower=lower, upper=upper, step=step)):
                bounds = [None if each is None else self.value(each) for each in (lower, upper, step)]
                return ["[:]", self.value(owner), *bounds]
            case ast.Subscript(value=owner, slice=key):
                return ["[]", self.value(owner), self.value(key)]
            case ast.Call(func=called, args=arguments, keywords=keywords):
                if isinstance(called, ast.Attribute):
                    self.called.add(called.attr)
                named = [[each.arg, self.value(each.value)] for each in keywords]
                return ["()", self.value(called), list(map(self.value, arguments)), named, *self.place(node)]
            case ast.Starred(value=inner):
                return ["*", self.value(inner)]
            case ast.BinOp(left=left, op=op, right=right):
                return ["op", OPERATORS[type(op)], self.value(left), self.value(right)]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.UnaryOp(op=op, operand=operand):
                return ["un", OPERATORS[type(op)], self.value(operand)]
            case ast.BoolOp(op=op, values=values):
                return ["and" if isinstance(op, ast.And) else "or", *map(self.value, values)]
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = [[OPERATORS[type(op)], self.value(other)] for op, other in zip(ops, others, strict=True)]
                return ["cmp", self.value(left), *pairs]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ["either", self.value(test), self.value(body), self.value(orelse)]
            case ast.JoinedStr(values=parts):
                return ["text", *map(self._part, parts)]
            case ast.List(elts=items):
                return ["list", *map(self.value, items)]
            case ast.Tuple(elts=items):
                return ["tuple", *map(self.value, items)]
            case ast.Set(elts=items):
                return ["set", *map(self.value, items)]
            case ast.Dict(keys=keys, values=values):
                return ["dict", *map(self._entry, keys, values)]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node, [self.value(node.elt)])
            case ast.DictComp(key=key, value=value):
                return self._comprehension(node, [self.value(key), self.value(value)])
            case ast.Lambda(args=given, body=body):
                return ["fn", *self._inner(given, lambda: self.value(body))]
        raise NotEffects

    def _inner(self, given: ast.arguments, body: Callable[[], Any]) -> Iterator[Any]:
        """Yield the parameters of a function inside of this one, the values of the last ones, and what it does."""
        if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg:
            raise NotEffects
        yield [each.arg for each in given.args]
        yield list(map(self.value, given.defaults))
        new = {each.arg for each in given.args} - self.parameters
        if not new.isdisjoint(self.numbers):
            raise NotEffects
        self.parameters |= new
        yield body()
        self.parameters -= new

    def _part(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                return [self.value(value), conversion, None if spec is None else self.value(spec)]
        raise NotEffects

    def _entry(self, key: ast.expr | None, value: ast.expr) -> Any:
        if key is None:
            return [self.value(value)]
        return [self.value(key), self.value(value), *self.place(value)]

    def _comprehension(self, node: Any, produced: list[Any]) -> Any:
        if any(each.is_async for each in node.generators):
            raise NotEffects
        loops = [
            [self.target(each.target), self.value(each.iter), *map(self.value, each.ifs)] for each in node.generators
        ]
        return ["all", OPERATORS[type(node)], produced, loops]

    def _name(self, name: str) -> Any:
        if name in self.parameters:
            return ["$", name]
        if name in self.names.local and name not in self.names.imported:
            return ["$", self.number(name)]
        if name.startswith("__"):
            raise NotEffects
        meant = self.names.meant(ast.Name(name, ast.Load()))
        if isinstance(meant, CONSTANTS) and not isinstance(meant, (bytes, complex)) and meant is not ...:
            return meant
        if isinstance(meant, External) and meant.name == f"builtins.{name}":
            return ["global", name]
        # What only this function imports may have the name of something else in the module.
        key = f"{self.node.name}.{name}" if name in self.names.imported else name
        if key not in self.globals:
            self.globals[key] = self._meaning(meant)
        return ["global", key]

    def _meaning(self, value: Object) -> Node:
        if isinstance(value, (Function, ClassObject)):
            self.named.append(value)
        if isinstance(value, Module):
            return ["module", value.name]
        if value is MISSING or isinstance(value, Native):
            raise NotEffects
        node = self.encoder.encode(value)
        if node in (SET, UNKNOWN) or (isinstance(node, list) and node[0] == "?"):
            raise NotEffects
        return node


def _logger(module: Module, name: str) -> bool:
    """Tell whether a global name of a module is a logger."""
    for node in module.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=assigned)], value=value)
                | ast.AnnAssign(target=ast.Name(id=assigned), value=ast.expr() as value)
            ) if assigned == name:
                return ast.unparse(value).startswith(("logging.getLogger(", "getLogger("))
    return False
