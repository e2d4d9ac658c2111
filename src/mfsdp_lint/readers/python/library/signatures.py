"""Parameters of a function or a class, as `inspect` reports them."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields, is_dataclass, lookup, opaque
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    DictObject,
    External,
    Function,
    ListObject,
    Object,
    Partial,
    Unknown,
)


@models("inspect.signature")
def _signature(machine: Machine, call: Call) -> Object:
    parameters = (
        _parameters_of(machine, machine.settle(call.arguments[0]))
        if len(call.arguments) == 1 and not call.keywords
        else None
    )
    if parameters is None:
        return machine.unknown("signature", not_none=True)
    # (It has one for sure, so nothing raises here.)
    signature = Unknown(machine.tick(), "signature", True)
    entries = {name: _parameter(machine, name, kind, default) for name, kind, default in parameters}
    signature.fields["parameters"] = DictObject(dict(entries), machine.tick())
    return signature


@models("inspect.getfullargspec")
def _argument_names(machine: Machine, call: Call) -> Object:
    parameters = (
        _parameters_of(machine, machine.settle(call.arguments[0]))
        if len(call.arguments) == 1 and not call.keywords
        else None
    )
    if parameters is None or isinstance(call.arguments[0], Bound):
        return machine.unknown("argument names", not_none=True)
    made = Unknown(machine.tick(), "argument names", True)
    for field, kinds in {"args": _BY_PLACE, "kwonlyargs": ("KEYWORD_ONLY",)}.items():
        named: list[Object] = [name for name, kind, _ in parameters if kind in kinds]
        made.fields[field] = ListObject(named, machine.tick())
    for field, kind in {"varargs": "VAR_POSITIONAL", "varkw": "VAR_KEYWORD"}.items():
        made.fields[field] = next((name for name, its, _ in parameters if its == kind), None)
    return made


_BY_PLACE = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")


def _parameters_of(machine: Machine, called: Object) -> list[tuple[str, str, Object]] | None:
    """Return a callable's parameters: name, kind and default (MISSING where there is none); None if not known."""
    if isinstance(called, Bound):
        parameters = _parameters_of(machine, called.function)
        return None if parameters is None else parameters[1:]
    if isinstance(called, Partial):
        parameters = _parameters_of(machine, called.function)
        if parameters is None or called.arguments or "**" in called.keywords:
            return None
        return [(name, kind, called.keywords.get(name, default)) for name, kind, default in parameters]
    if isinstance(called, ClassObject):
        return _parameters_of_class(machine, called)
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


def _parameters_of_class(machine: Machine, cls: ClassObject) -> list[tuple[str, str, Object]] | None:
    constructor, owner = lookup(machine, cls, "__init__")
    if isinstance(constructor, Function) and (owner is cls or not has_fields(machine, cls)):
        parameters = _parameters_of(machine, constructor)
        return None if parameters is None else parameters[1:]
    if not is_dataclass(machine, cls) or opaque(machine, cls) or lookup(machine, cls, "__new__")[0] is not MISSING:
        return None
    return [
        (
            spec.name,
            "KEYWORD_ONLY" if spec.keyword_only else "POSITIONAL_OR_KEYWORD",
            spec.default if spec.factory is MISSING else machine.unknown(spec.name),
        )
        for spec in fields_of(machine, cls)
        if spec.init
    ]


def _parameter(machine: Machine, name: str, kind: str, default: Object) -> Object:
    """Make an element of `inspect.signature(…).parameters`."""
    made = Unknown(machine.tick(), name, True)
    default = External("inspect.Parameter.empty") if default is MISSING else default
    made.fields.update(name=name, kind=External(f"inspect.Parameter.{kind}"), default=default)
    return made
