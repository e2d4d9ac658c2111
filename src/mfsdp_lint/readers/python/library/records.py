"""dataclasses: `replace`, `fields`, `asdict`, `field`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import write
from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields, opaque
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_methods, havoc, shallow_copy
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)


@models("dataclasses.replace", "copy.replace")
def _replace(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    if isinstance(value, Choice):
        return join(machine, [_replace(machine, call.passing([option], call.keywords)) for option in value.options])
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        return _of_class(machine, value, value.cls, call.keywords, call.node, call.frame)
    if isinstance(value, Instance) or type(value) is Unknown:
        return _of_unknown_class(machine, value, call.keywords, call.node, call.frame)
    return machine.unknown("replace()", not_none=True)


def _of_class(
    machine: Machine, value: Instance, cls: ClassObject, keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    specs = fields_of(machine, cls)
    if any(name not in {spec.name for spec in specs} and name != "**" for name in keywords):
        raise Raised("TypeError", "replace() got an unexpected field name")
    given = {spec.name: value.fields[spec.name] for spec in specs if spec.init and spec.name in value.fields}
    if "**" in keywords:
        given = {name: join(machine, [part, machine.unknown(name)]) for name, part in given.items()}
    given |= {name: item for name, item in keywords.items() if name != "**"}
    made = invoke(machine, cls, Call([], given, node, frame, _said(node)))
    if not isinstance(made, Instance):
        return made
    for name in given.keys() - keywords.keys():
        # What replace() only hands on keeps the origin it had.
        if name in value.writes and name in made.writes:
            made.writes[name] = value.writes[name]
        elif name in made.writes:
            made.writes.pop(name)
    return made


def _said(node: Any) -> dict[str, Any]:
    """Return the keyword arguments of a call, as they are written."""
    return {keyword.arg: keyword for keyword in getattr(node, "keywords", ()) if keyword.arg}


def _of_unknown_class(
    machine: Machine, value: Unknown | Instance, keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """Model `replace` of an object of unknown class: it may have a `__post_init__`, one of the program's own too."""
    said = _said(node)
    made = shallow_copy(machine, value)
    made.not_none = True
    for name, item in keywords.items():
        if name != "**":
            write(machine, made, name, item, node, frame, said.get(name), "argument")
    havoc(machine, made)
    forget_methods(machine, "__post_init__")
    return made


@models("dataclasses.fields")
def _fields(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, ClassObject) or opaque(machine, cls):
        return machine.unknown("fields", not_none=True)
    found = []
    for spec in fields_of(machine, cls):
        described = machine.unknown(spec.name, not_none=True)
        described.fields |= {"name": spec.name, "init": spec.init, "kw_only": spec.keyword_only}
        if spec.default is not MISSING:
            described.fields["default"] = spec.default
        found.append(described)
    return tuple(found)


@models("dataclasses.is_dataclass")
def _is_dataclass(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(cls, ClassObject):
        return has_fields(machine, cls)
    return (
        False if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject)) else machine.unknown("", not_none=True)
    )


@models("dataclasses.asdict")
def _asdict(machine: Machine, call: Call) -> Object:
    found = None if call.keywords else _field_values(machine, call.arguments[0], _as_dict)
    return machine.unknown("asdict", not_none=True) if found is None else _as_dict(machine, found)


@models("dataclasses.astuple")
def _astuple(machine: Machine, call: Call) -> Object:
    found = None if call.keywords else _field_values(machine, call.arguments[0], _as_tuple)
    return machine.unknown("astuple", not_none=True) if found is None else _as_tuple(machine, found)


Shape = Callable[[Machine, dict[str, Object]], Object]


def _as_dict(machine: Machine, values: dict[str, Object]) -> Object:
    return DictObject(values, machine.tick())


def _as_tuple(machine: Machine, values: dict[str, Object]) -> Object:
    return tuple(values.values())


def _field_values(machine: Machine, value: Object, shape: Shape) -> dict[str, Object] | None:
    value = machine.settle(value)
    if not isinstance(value, Instance) or not isinstance(value.cls, ClassObject):
        return None
    names = [spec.name for spec in fields_of(machine, value.cls) if spec.name in value.fields]
    return {name: _plain_copy(machine, value.fields[name], shape) for name in names}


def _plain_copy(machine: Machine, value: Object, shape: Shape) -> Object:
    value = machine.settle(value)
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject) and has_fields(machine, value.cls):
        return shape(machine, _field_values(machine, value, shape) or {})
    if type(value) is ListObject and value.items is not None:
        return ListObject([_plain_copy(machine, item, shape) for item in value.items], machine.tick())
    if type(value) is tuple:
        return tuple(_plain_copy(machine, item, shape) for item in value)
    if isinstance(value, DictObject) and not value.writes.get(HAZY):
        found = {key: _plain_copy(machine, item, shape) for key, item in value.fields.items()}
        return DictObject(found, machine.tick())
    return deep_copy(machine, value)


@models("dataclasses.field", "pydantic.Field")
def _field(machine: Machine, call: Call) -> Object:
    return Partial(External("dataclasses.field"), [], call.keywords)
