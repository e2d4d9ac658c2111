"""Functions as values: decorators, `functools`, and their parameters as `inspect` reports them."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields, is_dataclass, lookup, mro, namespace, opaque
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.state.calling import BUILTINS, Model, evaluate, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call, qualified
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    Descriptor,
    DictObject,
    External,
    Frame,
    Function,
    ListObject,
    Native,
    Object,
    Partial,
    Unknown,
)


def _descriptor(kind: str) -> Model:
    return lambda interp, call: Descriptor(kind, call.argument(0))


for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(f"builtins.{_name}", _descriptor(_name))


@models("functools.wraps")
def _wraps(interp: Interpreter, call: Call) -> Object:
    wrapped = call.argument(0, "wrapped")

    def decorate(interp: Interpreter, call: Call) -> Object:
        return _named_like(interp, call.argument(0), wrapped, call.frame)

    return Native(f"{MODELLED}functools.wraps", decorate)


@models("functools.update_wrapper")
def _update_wrapper(interp: Interpreter, call: Call) -> Object:
    return _named_like(interp, call.argument(0, "wrapper"), call.argument(1, "wrapped"), call.frame)


def _named_like(interp: Interpreter, wrapper: Object, wrapped: Object, frame: Frame) -> Object:
    """Give a wrapper the name of the function that it wraps, and `__wrapped__`."""
    if isinstance(wrapper, Function):
        wrapper.fields["__wrapped__"] = wrapped
        wrapper.fields["__name__"] = get_attribute(interp, wrapped, "__name__", None, frame)
    return wrapper


@models("functools.partial")
def _partial(interp: Interpreter, call: Call) -> Object:
    keywords = call.keywords
    if not call.arguments:
        raise Raised("TypeError", "partial expected at least 1 argument")
    function, *given = call.arguments
    if isinstance(function, Partial):
        given, keywords = [*function.arguments, *given], {**function.keywords, **keywords}
        function = function.function
    return Partial(function, given, keywords, (call.node, call.frame))


models("functools.partialmethod")(
    lambda interp, call: Partial(call.arguments[0], call.arguments[1:], call.keywords, method=True)
)


@models("functools.parameter_types")
def _parameter_types(interp: Interpreter, call: Call) -> Object:
    """Return the classes in the first annotation of a function: `singledispatch` registers it for them."""
    function = call.arguments[0]
    if not isinstance(function, Function):
        return interp.unknown("annotation")
    parameters: ast.arguments = function.node.args
    noted = [each.annotation for each in [*parameters.posonlyargs, *parameters.args] if each.annotation is not None]
    pending, found = noted[:1], []
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            pending += [annotation.left, annotation.right]
        else:
            found.append(evaluate(interp, annotation, function.closure or Frame(function.module)))
    return tuple(found)


@models("unittest.mock.patchings_of")
def _patchings_of(interp: Interpreter, call: Call) -> Object:
    """Return the patches that decorate a function already, as its attribute `patchings`; None where none does."""
    function = call.arguments[0]
    return function.fields.get("patchings") if isinstance(function, Function) else None


@models("unittest.mock.tests_of")
def _tests_of(interp: Interpreter, call: Call) -> Object:
    """Return the names of a class's tests, its own and those of the base classes at hand."""
    classes = [each for each in mro(interp, call.arguments[0]) if isinstance(each, ClassObject)]
    names = {name: None for cls in classes for name in namespace(interp, cls) if str(name).startswith("test")}
    return ListObject(list(names), interp.tick())


@models("functools.nearest")
def _nearest(interp: Interpreter, call: Call) -> Object:
    """Return, from pairs of class and function, the function of the class that comes first among a class's bases."""
    cls, table, default = (interp.settle(argument) for argument in call.arguments)
    if isinstance(cls, Choice):
        return join(interp, [_nearest(interp, call.passing([option, table, default])) for option in cls.options])
    pairs = table.items if isinstance(table, ListObject) else None
    if pairs is None or not isinstance(cls, (ClassObject, Native)):
        return interp.unknown("implementation")
    order = mro(interp, cls) if isinstance(cls, ClassObject) else [cls]
    if isinstance(cls, Native) and cls.name == "builtins.bool":
        order = [cls, BUILTINS["int"]]
    for base in order:
        for registered, function in reversed(pairs):
            if qualified(interp.settle(registered)) == qualified(base):
                found: Object = function
                return found
    # A class out of sight may be an abstract one that this one counts among.
    known = all(isinstance(interp.settle(registered), (ClassObject, Native)) for registered, _ in pairs)
    return default if known else interp.unknown("implementation")


models("functools.lru_cache")(lambda interp, call: External("functools.cache"))


@models("functools.reduce")
def _reduce(interp: Interpreter, call: Call) -> Object:
    items = iterate(interp, call.arguments[1], call.frame)
    if items is None:
        return interp.unknown("reduce")
    total = call.argument(2, default=MISSING)
    for item in items:
        total = item if total is MISSING else invoke(interp, call.arguments[0], call.passing([total, item]))
    if total is MISSING:
        raise Raised("TypeError", "reduce() of empty iterable with no initial value")
    return total


@models("inspect.signature")
def _signature(interp: Interpreter, call: Call) -> Object:
    parameters = _parameters_asked(interp, call)
    if parameters is None:
        return interp.unknown("signature", not_none=True)
    # (It has one for sure, so nothing raises here.)
    signature = Unknown(interp.tick(), "signature", True)
    entries = {name: _parameter(interp, name, kind, default) for name, kind, default in parameters}
    signature.fields["parameters"] = DictObject(dict(entries), interp.tick())
    return signature


@models("inspect.getfullargspec")
def _argument_names(interp: Interpreter, call: Call) -> Object:
    parameters = _parameters_asked(interp, call)
    if parameters is None or isinstance(call.arguments[0], Bound):
        return interp.unknown("argument names", not_none=True)
    made = Unknown(interp.tick(), "argument names", True)
    for field, kinds in {"args": ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"), "kwonlyargs": ("KEYWORD_ONLY",)}.items():
        named: list[Object] = [name for name, kind, _ in parameters if kind in kinds]
        made.fields[field] = ListObject(named, interp.tick())
    for field, kind in {"varargs": "VAR_POSITIONAL", "varkw": "VAR_KEYWORD"}.items():
        made.fields[field] = next((name for name, its, _ in parameters if its == kind), None)
    return made


def _parameters_asked(interp: Interpreter, call: Call) -> list[tuple[str, str, Object]] | None:
    alone = len(call.arguments) == 1 and not call.keywords
    return _parameters_of(interp, interp.settle(call.arguments[0])) if alone else None


def _parameters_of(interp: Interpreter, called: Object) -> list[tuple[str, str, Object]] | None:
    """Return a callable's parameters: name, kind and default (MISSING where there is none); None if not known."""
    if isinstance(called, Bound):
        parameters = _parameters_of(interp, called.function)
        return None if parameters is None else parameters[1:]
    if isinstance(called, Partial):
        parameters = _parameters_of(interp, called.function)
        if parameters is None or called.arguments or "**" in called.keywords:
            return None
        return [(name, kind, called.keywords.get(name, default)) for name, kind, default in parameters]
    if isinstance(called, ClassObject):
        return _parameters_of_class(interp, called)
    if not isinstance(called, Function) or "__wrapped__" in called.fields:
        return None
    if called.unwrapped is not None and called.module.upstream is None:
        return None
    said: ast.arguments = called.node.args
    kinds: dict[str, list[Any]] = {
        "POSITIONAL_ONLY": said.posonlyargs,
        "POSITIONAL_OR_KEYWORD": said.args,
        "VAR_POSITIONAL": [said.vararg],
        "KEYWORD_ONLY": said.kwonlyargs,
        "VAR_KEYWORD": [said.kwarg],
    }
    found = [
        (one.arg, kind, called.defaults.get(one.arg, MISSING))
        for kind, several in kinds.items()
        for one in several
        if one is not None
    ]
    # A snapshot says just this of a function that it knows nothing of.
    open_to_all = {kind for _, kind, _ in found} == {"VAR_POSITIONAL", "VAR_KEYWORD"}
    return None if called.unwrapped is not None and open_to_all else found


def _parameters_of_class(interp: Interpreter, cls: ClassObject) -> list[tuple[str, str, Object]] | None:
    constructor, owner = lookup(interp, cls, "__init__")
    if isinstance(constructor, Function) and (owner is cls or not has_fields(interp, cls)):
        parameters = _parameters_of(interp, constructor)
        return None if parameters is None else parameters[1:]
    if not is_dataclass(interp, cls) or opaque(interp, cls) or lookup(interp, cls, "__new__")[0] is not MISSING:
        return None
    return [
        (
            spec.name,
            "KEYWORD_ONLY" if spec.keyword_only else "POSITIONAL_OR_KEYWORD",
            spec.default if spec.factory is MISSING else interp.unknown(spec.name),
        )
        for spec in fields_of(interp, cls)
        if spec.init
    ]


def _parameter(interp: Interpreter, name: str, kind: str, default: Object) -> Object:
    """Make an element of `inspect.signature(…).parameters`."""
    made = Unknown(interp.tick(), name, True)
    default = External("inspect.Parameter.empty") if default is MISSING else default
    made.fields.update(name=name, kind=External(f"inspect.Parameter.{kind}"), default=default)
    return made
