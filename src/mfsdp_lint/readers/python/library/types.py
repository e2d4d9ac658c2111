"""Types of values: `isinstance`, `issubclass`, `type`, `callable`."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.classes import is_subclass
from mfsdp_lint.readers.python.eval.instance_of import is_instance
from mfsdp_lint.readers.python.library.made_classes import class_of
from mfsdp_lint.readers.python.state.forgetting import part_of
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS, models
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.markers import FACTORY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    Bound,
    DictObject,
    EnumMember,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    SetObject,
    Unknown,
)


@models("builtins.isinstance")
def _isinstance(machine: Machine, call: Call) -> Object:
    known = is_instance(machine, call.arguments[0], call.arguments[1])
    if known is None and isinstance(call.arguments[0], Unknown):
        return part_of(
            machine,
            call.arguments[0],
            ("isinstance", ast.unparse(call.node) if isinstance(call.node, ast.AST) else ""),
            "isinstance",
        )
    return machine.unknown("", not_none=True) if known is None else known


@models("builtins.issubclass")
def _issubclass(machine: Machine, call: Call) -> Object:
    others = call.arguments[1] if isinstance(call.arguments[1], tuple) else (call.arguments[1],)
    found = [is_subclass(machine, call.arguments[0], other) for other in others]
    if True in found:
        return True
    return machine.unknown("", not_none=True) if None in found else False


@models("builtins.callable")
def _callable(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0])
    if isinstance(value, (Function, Bound, Native, Partial, ClassObject)):
        return True
    if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject, EnumMember)):
        return False
    return machine.unknown("", not_none=True)


@models("builtins.type")
def _type(machine: Machine, call: Call) -> Object:
    if len(call.arguments) == 3:
        return class_of(machine, call.arguments, call.frame)
    value = machine.settle(call.arguments[0])
    if len(call.arguments) == 1 and isinstance(value, (Instance, EnumMember)):
        return value.cls
    if len(call.arguments) == 1 and isinstance(value, CONSTANTS) and value is not None:
        return BUILTINS.get(type(value).__name__, machine.unknown("type"))
    kinds: tuple[tuple[Any, str], ...] = (
        (tuple, "tuple"), (frozenset, "frozenset"), (SetObject, "set"), (DictObject, "dict"),
    )  # fmt: skip
    name = next((name for kind, name in kinds if isinstance(value, kind)), "list" if type(value) is ListObject else "")
    if len(call.arguments) == 1 and name and not (isinstance(value, DictObject) and FACTORY in value.writes):
        return BUILTINS[name]
    return machine.unknown("type", not_none=True)
