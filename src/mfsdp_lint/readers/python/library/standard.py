"""Copies, partial functions, enumerations and the smaller parts of the standard library."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.blocks import isolated
from mfsdp_lint.readers.python.eval.classes import lookup, mro
from mfsdp_lint.readers.python.eval.iteration import called, iterate, special
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.deciding import inside
from mfsdp_lint.readers.python.state.forgetting import shallow_copy
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.classes import ClassObject, qualified
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.markers import COPY_OF
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    Unknown,
)


@models("copy.deepcopy")
def _deepcopy(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    own = special(machine, value, "__deepcopy__")
    if own is not None:
        return invoke(machine, own, call.passing([value, DictObject({}, machine.tick())]))
    copies: dict[int, Object] = {}
    for part in _parts(machine, value, set()):
        if _is_copied_by_another(machine, part, call.node, call.frame):
            copies[id(part)] = machine.unknown("copy", not_none=True)
    return deep_copy(machine, value, copies)


def _parts(machine: Machine, value: Object, seen: set[int]) -> Iterator[Instance]:
    """Yield the objects that a deep copy reaches."""
    value = machine.settle(value)
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Instance):
        yield value
    inner: Iterable[Object] = ()
    if isinstance(value, (Instance, DictObject)):
        inner = value.fields.values()
    elif isinstance(value, ListObject):
        inner = value.items or ()
    elif isinstance(value, (tuple, Choice)):
        inner = value.options if isinstance(value, Choice) else value
    for each in inner:
        yield from _parts(machine, each, seen)


def _is_copied_by_another(machine: Machine, value: Instance, node: Any, frame: Frame) -> bool:
    """Tell whether `copy` finds `__deepcopy__` by a `__getattr__` that asks another object: it then copies that one.

    At head the model is such an object (GPTModelConfig in megatron-core's training/models/gpt.py): its copy is of the
    class of the TransformerConfig in it.
    """
    if not isinstance(lookup(machine, value.cls, "__getattr__")[0], Function):
        return False
    if isinstance(value.cls, ClassObject) and value.cls.data is not None:
        return True  # a snapshot does not tell special methods
    try:
        return isolated(machine, lambda: get_attribute(machine, value, "__deepcopy__", node, frame)) is not MISSING
    except Raised:
        return False


@models("copy.copy")
def _copy(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    own = called(machine, value, "__copy__", call.node, call.frame)
    if own is not MISSING:
        return own
    if isinstance(value, (Instance, DictObject)):
        copied: Instance | DictObject = (
            Instance(value.cls, machine.tick(), value.made)
            if isinstance(value, Instance)
            else DictObject({}, machine.tick())
        )
        copied.fields, copied.writes = dict(value.fields), dict(value.writes)
        return copied
    if isinstance(value, ListObject):
        return type(value)(value.items, machine.tick())
    if isinstance(value, Choice):
        return join(machine, [_copy(machine, call.passing([option])) for option in value.options])
    if type(value) is Unknown:
        made = shallow_copy(machine, value)
        made.fields[COPY_OF] = value
        return made
    return value if isinstance(value, (*CONSTANTS, tuple, frozenset)) else machine.unknown()


@models("functools.partial")
def _partial(machine: Machine, call: Call) -> Object:
    keywords = call.keywords
    if not call.arguments:
        raise Raised("TypeError", "partial expected at least 1 argument")
    function, *given = call.arguments
    if isinstance(function, Partial):
        given, keywords = [*function.arguments, *given], {**function.keywords, **keywords}
        function = function.function
    return Partial(function, given, keywords, (call.node, call.frame))


@models("functools.partialmethod")
def _partial_method(machine: Machine, call: Call) -> Object:
    return Partial(call.arguments[0], call.arguments[1:], call.keywords, method=True)


@models("functools.wraps")
def _wraps(machine: Machine, call: Call) -> Object:
    wrapped = call.arguments[0] if call.arguments else call.keywords.get("wrapped")

    def wrap(machine: Machine, call: Call) -> Object:
        function = call.arguments[0]
        if isinstance(function, Function):
            function.fields["__wrapped__"] = wrapped
            function.fields["__name__"] = getattr(wrapped, "name", MISSING)
        return function

    return Native("functools.wraps()", wrap)


@models("functools.parameter_types")
def _parameter_types(machine: Machine, call: Call) -> Object:
    """Return the classes in the first annotation of a function: `singledispatch` registers it for them."""
    function = call.arguments[0]
    if not isinstance(function, Function):
        return machine.unknown("annotation")
    parameters: ast.arguments = function.node.args
    noted = [each.annotation for each in [*parameters.posonlyargs, *parameters.args] if each.annotation is not None]
    pending, found = noted[:1], []
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            pending += [annotation.left, annotation.right]
        else:
            found.append(evaluate(machine, annotation, function.closure or Frame(function.module)))
    return tuple(found)


@models("functools.nearest")
def _nearest(machine: Machine, call: Call) -> Object:
    """Return, from pairs of class and function, the function of the class that comes first among a class's bases."""
    cls, table, default = (machine.settle(argument) for argument in call.arguments)
    pairs = table.items if isinstance(table, ListObject) else None
    if pairs is None or not isinstance(cls, (ClassObject, Native)):
        return machine.unknown("implementation")
    order = mro(machine, cls) if isinstance(cls, ClassObject) else [cls]
    if isinstance(cls, Native) and cls.name == "builtins.bool":
        order = [cls, BUILTINS["int"]]
    for base in order:
        for registered, function in reversed(pairs):
            if qualified(machine.settle(registered)) == qualified(base):
                found: Object = function
                return found
    # A class out of sight may be an abstract one that this one counts among.
    known = all(isinstance(machine.settle(registered), (ClassObject, Native)) for registered, _ in pairs)
    return default if known else machine.unknown("implementation")


@models("functools.lru_cache")
def _lru_cache(machine: Machine, call: Call) -> Object:
    return External("functools.cache")


@models("functools.reduce")
def _reduce(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.arguments[1], call.frame)
    if items is None:
        return machine.unknown("reduce")
    total = call.arguments[2] if len(call.arguments) > 2 else MISSING
    for item in items:
        total = item if total is MISSING else invoke(machine, call.arguments[0], call.passing([total, item]))
    if total is MISSING:
        raise Raised("TypeError", "reduce() of empty iterable with no initial value")
    return total


@models("typing.cast", "typing_extensions.cast")
def _cast(machine: Machine, call: Call) -> Object:
    return call.arguments[1]


@models("typing.TypeVar", "typing.NewType", "typing.TypedDict")
def _typing(machine: Machine, call: Call) -> Object:
    return machine.unknown("type", not_none=True)


@models("enum.auto")
def _auto(machine: Machine, call: Call) -> Object:
    return External("enum.auto()")


@models("types.SimpleNamespace")
def _namespace(machine: Machine, call: Call) -> Object:
    if call.arguments or "**" in call.keywords:
        return machine.unknown("namespace", not_none=True)
    given: list[ast.keyword] = getattr(call.node, "keywords", [])
    focus: dict[str, Any] = {
        name: inside(each.value, (name,)) for each in given if not each.arg for name in call.keywords
    }
    focus |= {each.arg: each for each in given if each.arg}
    return invoke(
        machine, written(machine, "types.SimpleNamespace"), Call([], call.keywords, call.node, call.frame, focus)
    )


@models("argparse.Namespace")
def _simple_namespace(machine: Machine, call: Call) -> Object:
    made = machine.unknown("namespace", not_none=True)
    made.fields.update({name: value for name, value in call.keywords.items() if name != "**"})
    return made


@models("contextlib.suppress")
def _suppress(machine: Machine, call: Call) -> Object:
    return Partial(External("contextlib.suppress"), call.arguments, {})


@models("contextlib.redirect_stdout", "contextlib.redirect_stderr")
def _null_context(machine: Machine, call: Call) -> Object:
    return machine.unknown("context", not_none=True)
