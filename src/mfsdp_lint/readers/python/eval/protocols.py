"""The special methods that a program's own classes have for operators, loops and tests."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.classes import lookup, opaque
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import MISSING, EnumMember, External, Function, Instance, Object

ARITHMETIC = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitOr": "or", "BitXor": "xor", "BitAnd": "and", "MatMult": "matmul",
}  # fmt: skip
"""The operators' names in those of the special methods."""

ORDER = {"Lt": ("lt", "gt"), "LtE": ("le", "ge"), "Gt": ("gt", "lt"), "GtE": ("ge", "le"), "Eq": ("eq", "eq")}
"""Those of comparisons, and what the right side is asked where the left one has no answer."""

NOT_IMPLEMENTED = External("NotImplemented")


def special(machine: Machine, value: Object, name: str) -> Function | None:
    """Return the special method that the class of an object defines in the program; None if there is none."""
    if isinstance(value, (Instance, EnumMember)) and isinstance(value.cls, ClassObject):
        found = lookup(machine, value.cls, name)[0]
        return found if isinstance(found, Function) else None
    return None


def has_hidden(machine: Machine, value: Object) -> bool:
    """Tell whether an object may have special methods that are out of sight."""
    return isinstance(value, Instance) and (not isinstance(value.cls, ClassObject) or opaque(machine, value.cls))


def operated(
    machine: Machine, kind: type, left: Object, right: Object, node: Any, frame: Frame, *, in_place: bool = False
) -> Object:
    """Evaluate `left <operator> right` by the special methods of either; MISSING where neither has one."""
    name = ARITHMETIC.get(kind.__name__, "")
    asked = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    if in_place:
        asked.insert(0, (left, f"__i{name}__", right))
    return _first(machine, asked, node, frame)


def ordered(machine: Machine, kind: type, left: Object, right: Object, node: Any, frame: Frame) -> Object:
    """Evaluate `left < right` and the like by the special methods of either; MISSING where neither has one."""
    if kind.__name__ not in ORDER:
        return MISSING
    name, mirrored = ORDER[kind.__name__]
    return _first(machine, [(left, f"__{name}__", right), (right, f"__{mirrored}__", left)], node, frame)


def _first(machine: Machine, asked: list[tuple[Object, str, Object]], node: Any, frame: Frame) -> Object:
    for owner, name, other in asked:
        method = special(machine, owner, name)
        if method is None:
            if has_hidden(machine, owner):
                # Some class out of sight may define it, and change the object.
                havoc(machine, owner)
                return machine.unknown("", not_none=True)
            continue
        found = invoke(machine, method, Call([owner, other], {}, node, frame))
        if found != NOT_IMPLEMENTED:
            return found
    return MISSING


def called(machine: Machine, value: Object, name: str, node: Any, frame: Frame) -> Object:
    """Return the result of a special method without arguments; MISSING where the program does not define it."""
    method = special(machine, value, name)
    return MISSING if method is None else invoke(machine, method, Call([value], {}, node, frame))
