"""Definitions of functions and classes, and their decorators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign_name
from mfsdp_lint.readers.python.eval.construction import announce, is_watched, watches
from mfsdp_lint.readers.python.eval.functions import evaluate_defaults
from mfsdp_lint.readers.python.eval.records import ATTRS
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import LIBRARY, GeneratorCall, Signal, evaluate, invoke, isolated
from mfsdp_lint.readers.python.state.effects import Effect, changes_nothing, effect
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.state.trees import names_in
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call, Deferred
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    Descriptor,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Native,
    Object,
    Partial,
    Unknown,
)

MODELLED = "decorator: "
"""How the names of modelled decorators begin."""

CACHES = ("functools.cache", "functools.lru_cache")


def run_define_function(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    _bind_definition(interp, node, frame, _make_function(interp, node, frame))
    return None


def function_elsewhere(interp: Interpreter, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Object:
    """Make a function that a module defines where its run did not pass: under a switch that is off unless it is set."""
    frame = Frame(module)
    frame.fields, frame.bindings = module.fields, module.bindings
    return _outside(interp, lambda: _make_function(interp, node, frame), module)


def _make_function(interp: Interpreter, node: Any, frame: Frame) -> Object:
    closure = None if frame.fields is frame.module.fields else frame
    function = Function(node, frame.module, closure, node.name, frame.cls if frame.is_class else None)
    evaluate_defaults(interp, function, node.args, frame)
    owner = f"{frame.function}." if frame.is_class else ""
    full = f"{frame.module.name}.{owner}{node.name}"
    if full.startswith("megatron.") and (closure is None or frame.is_class) and full in LIBRARY:
        # Upstream's own: what it comes to is known, its code leads out of sight.
        function.unwrapped = Native(full, LIBRARY[full])
    return function


def run_define_class(interp: Interpreter, node: ast.ClassDef, frame: Frame) -> Signal:
    closure = None if frame.fields is frame.module.fields else frame
    made = ClassObject(node.name, frame.module, node, closure)
    announced = is_watched(node, frame.fields)
    made.hooked = announced or watches(node)
    if frame.fields is not frame.module.fields:
        _bind_definition(interp, node, frame, made)
        if node.keywords or node.bases:
            announce(interp, made, frame)
        return None
    watched = announced or (frame.module.is_project and interp.programs.runs_hooks(frame.module.path))
    _bind_definition(interp, node, frame, made)
    if watched:
        later = Deferred(lambda: _outside(interp, lambda: announce(interp, made, frame), frame.module))
        names = _names_in([*node.bases, *(keyword.value for keyword in node.keywords)])
        frame.module.decorated.append((node.name, later, names | {node.name}))
    return None


def _bind_definition(interp: Interpreter, node: Any, frame: Frame, made: Object) -> None:
    def decorated() -> Object:
        value = made
        for decorator in reversed(node.decorator_list):
            value = _decorate(interp, decorator, value, frame)
        return value

    if isinstance(made, Function) and node.decorator_list:
        frame.module.defined[node] = made
    if not node.decorator_list:
        assign_name(interp, node.name, made, frame)
    elif frame.fields is frame.module.fields and not isinstance(frame.fields.get(node.name), Function):
        # Decorators of a module's own definitions are looked at when the name is first used.
        later = frame.fields[node.name] = Deferred(lambda: _outside(interp, decorated, frame.module))
        frame.module.decorated.append((node.name, later, _names_in(node.decorator_list)))
    else:
        assign_name(interp, node.name, decorated(), frame)


def _names_in(nodes: list[ast.expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(names_in, nodes))


def _outside(interp: Interpreter, make: Callable[[], Object], module: Module) -> Object:
    try:
        return isolated(interp, make, module)
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return interp.unknown("decorated")


def _decorate(interp: Interpreter, node: ast.expr, value: Object, frame: Frame) -> Object:
    if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter"):
        former = frame.fields.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(former, Descriptor):
            setter = value if node.attr == "setter" else former.setter
            return Descriptor("property", value if node.attr == "getter" else former.function, setter)
        return value
    try:
        decorator = evaluate(interp, node, frame)
    except Raised:
        return value
    if isinstance(decorator, External) and decorator.name not in LIBRARY:
        known = written(interp, decorator.name)
        decorator = decorator if known is MISSING else known
    if isinstance(decorator, GeneratorCall) and decorator.managed and isinstance(value, Function):
        return _managed(interp, decorator, value)
    return _applied(interp, decorator, value, node, frame)


def _applied(interp: Interpreter, decorator: Object, value: Object, node: ast.expr, frame: Frame) -> Object:
    """Apply a decorator to a definition, and return the result."""
    if isinstance(decorator, Choice):
        made = [_applied(interp, each, value, node, frame) for each in decorator.options]
        return join(interp, made)
    if _is_code(decorator, value):
        if not isinstance(value, ClassObject):
            return invoke(interp, decorator, Call([value], {}, node, frame))
        try:
            result = invoke(interp, decorator, Call([value], {}, node, frame))
        except Raised:
            return value
        return result if isinstance(result, ClassObject) else value
    if (
        isinstance(value, Function)
        and value.closure is not None
        and (
            isinstance(decorator, Unknown) or (isinstance(decorator, External) and not changes_nothing(decorator.name))
        )
    ):
        # It may call the function, or hand it to somebody who does.
        forget_reachable(interp, value)
    if isinstance(value, (Function, ClassObject)) and _may_give_arguments(interp, decorator):
        value.given_by = frame.module, node, frame.function
    return decorate(interp, decorator, value)


def _may_give_arguments(interp: Interpreter, decorator: Object) -> bool:
    """Tell whether a decorator is out of sight, and may call the function with arguments of its own (gin, Sacred)."""
    match decorator:
        case External(name=name) | Unknown(text=name):
            called = name.removesuffix("()")
            known = called in LIBRARY or called in ATTRS or interp.is_upstream(called)
            return not known and effect(called) >= Effect.ANYTHING
    return False


def _is_code(decorator: Object, value: Object) -> bool:
    """Tell whether a decorator is called to find out its effect: code of the program, or a model of a library's."""
    if isinstance(decorator, Native):
        # One that a call made: `@wraps(function)`.
        return decorator.name.startswith(MODELLED) or decorator.name.endswith("()")
    if isinstance(decorator, External):
        return decorator.name in LIBRARY and decorator.name not in CACHES and isinstance(value, (Function, Partial))
    if isinstance(decorator, Partial):
        return True
    return isinstance(decorator, (Function, Instance, Bound)) or (
        isinstance(decorator, ClassObject) and not isinstance(value, ClassObject)
    )


def _managed(interp: Interpreter, manager: GeneratorCall, function: Function) -> Object:
    """Return a function that a context manager decorates: a call of it may change all that both reach."""
    reached = [function, manager.frame.code, *manager.frame.fields.values()]

    def call_it(interp: Interpreter, call: Call) -> Object:
        for value in [*reached, *call.values]:
            forget_reachable(interp, value)
        return interp.unknown(f"{function.name}()")

    return Native(function.name, call_it)


def decorate(interp: Interpreter, decorator: Object, value: Object) -> Object:
    """Apply a decorator that is not code of the program to a definition."""
    name = getattr(decorator, "name", "")
    last = name.rpartition(".")[2]
    if isinstance(decorator, (External, Native)):
        if last in ("staticmethod", "classmethod", "property", "cached_property", "abstractproperty"):
            return Descriptor({"abstractproperty": "property"}.get(last, last), value)
        if last in ("contextmanager", "asynccontextmanager") and isinstance(value, Function):
            value.unwrapped = "contextmanager"
        if name in CACHES and isinstance(value, Function):
            value.unwrapped = value.unwrapped or "cached"
    # A decorator out of sight (a registry, a command-line entry, a cache) is taken to hand back what it was given.
    return value
