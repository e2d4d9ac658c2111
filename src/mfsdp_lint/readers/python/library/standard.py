"""Copies, partial functions, enumerations and the smaller parts of the standard library."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.containers import iterate
from mfsdp_lint.readers.python.eval.imports import import_module
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Partial,
    is_constant,
)


@models("copy.deepcopy")
def _deepcopy(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return deep_copy(machine, machine.settle(arguments[0]))


@models("copy.copy")
def _copy(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    value = machine.settle(arguments[0])
    if isinstance(value, (Instance, DictObject)):
        copied: Any = (
            Instance(value.cls, machine.tick(), value.made)
            if isinstance(value, Instance)
            else DictObject({}, machine.tick())
        )
        copied.fields, copied.writes = dict(value.fields), dict(value.writes)
        return copied
    if isinstance(value, ListObject):
        return type(value)(value.items, machine.tick())
    return value if is_constant(value) else machine.unknown()


@models("functools.partial", "functools.partialmethod")
def _partial(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if not arguments:
        raise Raised("TypeError", "partial expected at least 1 argument")
    function, *given = arguments
    if isinstance(function, Partial):
        given, keywords = [*function.arguments, *given], {**function.keywords, **keywords}
        function = function.function
    return Partial(function, given, keywords, (node, frame))


@models("functools.lru_cache")
def _lru_cache(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return External("functools.cache")


@models("functools.reduce")
def _reduce(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    items = iterate(machine, arguments[1], frame)
    if items is None:
        return machine.unknown("reduce")
    total = arguments[2] if len(arguments) > 2 else MISSING
    for item in items:
        total = item if total is MISSING else call(machine, arguments[0], [total, item], {}, node, frame)
    if total is MISSING:
        raise Raised("TypeError", "reduce() of empty iterable with no initial value")
    return total


@models("typing.cast", "typing_extensions.cast")
def _cast(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return arguments[1]


@models("typing.TypeVar", "typing.NewType", "typing.NamedTuple", "collections.namedtuple", "typing.TypedDict")
def _typing(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return machine.unknown("type", not_none=True)


@models("enum.auto")
def _auto(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return External("enum.auto()")


@models("types.SimpleNamespace", "argparse.Namespace")
def _simple_namespace(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    made = machine.unknown("namespace", not_none=True)
    made.fields.update({name: value for name, value in keywords.items() if name != "**"})
    return made


@models("contextlib.suppress")
def _suppress(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return Partial(External("contextlib.suppress"), arguments, {})


@models("contextlib.nullcontext", "contextlib.redirect_stdout")
def _null_context(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return machine.unknown("context", not_none=True)


@models("inspect.signature")
def _signature(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return machine.unknown("signature", not_none=True)


@models("builtins.__import__", "importlib.import_module")
def _import_module(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    name = machine.settle(arguments[0]) if arguments else None
    if not isinstance(name, str) or name.startswith("."):
        return machine.unknown("module")
    found = import_module(machine, name, frame.module)
    return found if not isinstance(found, External) else machine.unknown(name, not_none=True)
