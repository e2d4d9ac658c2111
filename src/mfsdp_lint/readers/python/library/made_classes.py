"""Classes that a call makes: `namedtuple`, `Enum`, `make_dataclass` and `type` with three arguments."""

from __future__ import annotations

import ast

from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import MISSING, DictObject, External, Object, all_are, is_constant


def _made(name: str, bases: list[Object], fields: list[str], values: dict[str, Object], frame: Frame) -> ClassObject:
    body: list[ast.stmt] = [
        ast.AnnAssign(ast.Name(field, ast.Store()), ast.Name("object", ast.Load()), None, 1) for field in fields
    ]
    node = ast.ClassDef(name, [], [], body, [])  # type: ignore[call-arg, unused-ignore]
    cls = ClassObject(name, frame.module, node, None)
    cls.bases_of, cls.fields, cls.ran = bases, dict(values), True
    return cls


def _names(machine: Machine, value: Object, frame: Frame) -> list[Object] | None:
    value = machine.settle(value)
    return list(value.replace(",", " ").split()) if isinstance(value, str) else iterate(machine, value, frame)


def _unknown_class(machine: Machine) -> Object:
    return machine.unknown("type", not_none=True)


@models("collections.namedtuple", "typing.NamedTuple")
def _named_tuple(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else None
    given = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("field_names")
    fields = None if given is None else _names(machine, given, call.frame)
    if not isinstance(name, str) or fields is None or call.keywords.keys() - {"field_names", "defaults"}:
        return _unknown_class(machine)
    names = [field[0] if isinstance(field, tuple) and field else field for field in fields]
    defaults = (
        iterate(machine, call.keywords["defaults"], call.frame) if call.keywords.get("defaults") is not None else []
    )
    if defaults is None or not all_are(names, str):
        return _unknown_class(machine)
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=False))
    return _made(name, [written(machine, "typing.NamedTuple")], list(names), values, call.frame)


@models("dataclasses.make_dataclass")
def _make_dataclass(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else None
    entries = iterate(machine, call.arguments[1], call.frame) if len(call.arguments) == 2 else None
    if not isinstance(name, str) or entries is None or call.keywords:
        return _unknown_class(machine)
    rows = [entry if isinstance(entry, tuple) else (entry,) for entry in entries]
    names = [row[0] for row in rows if row]
    if len(names) < len(rows) or not all_are(names, str):
        return _unknown_class(machine)
    values = {name: row[2] for name, row in zip(names, rows, strict=True) if len(row) == 3}
    made = _made(name, [], list(names), values, call.frame)
    made.decorator = ast.Name("dataclass", ast.Load())
    return made


def _enumeration(kind: str) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        name = machine.settle(call.arguments[0]) if call.arguments else None
        given = machine.settle(call.arguments[1]) if len(call.arguments) > 1 else None
        if not isinstance(name, str) or given is None or call.keywords:
            return _unknown_class(machine)
        members = _members(machine, given, kind, call.frame)
        return _unknown_class(machine) if members is None else _made(name, [External(kind)], [], members, call.frame)

    return model


def _members(machine: Machine, given: Object, kind: str, frame: Frame) -> dict[str, Object] | None:
    if isinstance(given, DictObject):
        pairs: list[Object] | None = None if iterate(machine, given, frame) is None else list(given.fields.items())
    else:
        pairs = _names(machine, given, frame)
    if pairs is None:
        return None
    members = {}
    for pair in pairs:
        name, value = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, External("enum.auto()"))
        if not isinstance(name, str) or not (is_constant(value) or isinstance(value, External)):
            return None
        members[name] = value
    return members


for _kind in ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"):
    models(_kind)(_enumeration(_kind))


def class_of(machine: Machine, arguments: list[Object], frame: Frame) -> Object:
    """Make a class as `type(name, bases, namespace)` does."""
    name, bases, namespace = (machine.settle(argument) for argument in arguments)
    if not isinstance(name, str) or not isinstance(bases, tuple) or not isinstance(namespace, DictObject):
        return _unknown_class(machine)
    if iterate(machine, namespace, frame) is None or MISSING in bases:
        return _unknown_class(machine)
    return _made(name, list(bases), [], namespace.fields, frame)
