"""Operators on values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.containers import absorbed
from mfsdp_lint.readers.python.eval.path_objects import make_path
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.variables import copied_environment, is_environment
from mfsdp_lint.readers.python.values.classes import plain
from mfsdp_lint.readers.python.values.limits import LONGEST_LIST, is_small, is_wide
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    Choice,
    DictObject,
    ListObject,
    Object,
    PathObject,
    SetObject,
    StandardObject,
)

BIG = 1_000_000
"""Numbers and sequences larger than this are not computed."""


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}


def binary(machine: Machine, kind: type, left: Object, right: Object) -> Object:
    """Evaluate `left <operator> right`."""
    left, right = plain(machine.settle(left)), plain(machine.settle(right))
    if isinstance(left, Choice) or isinstance(right, Choice):
        return _binary_over(machine, kind, left, right)
    if StandardObject in (type(left), type(right)):
        return standard_objects.operated(machine, kind, left, right)
    if kind is ast.Div and (type(left) is PathObject or type(right) is PathObject):
        return make_path(machine, [left, right])
    if isinstance(left, ListObject) and not isinstance(left, SetObject):
        return _list_operation(machine, kind, left, right)
    if (
        isinstance(right, ListObject)
        and kind is ast.Mult
        and isinstance(left, int)
        and not isinstance(right, SetObject)
    ):
        return _list_operation(machine, kind, right, left)
    if isinstance(left, SetObject) and isinstance(right, SetObject):
        return _set_operation(machine, kind, left, right)
    if kind is ast.BitOr and (is_environment(left) or is_environment(right)):
        left, right = (copied_environment(machine) if is_environment(each) else each for each in (left, right))
    if isinstance(left, DictObject) and isinstance(right, DictObject) and kind is ast.BitOr:
        merged = DictObject(absorbed(machine, left.fields, right), machine.tick())
        merged.writes = {**left.writes, **right.writes}
        return merged
    if isinstance(left, (*CONSTANTS, tuple)) and isinstance(right, (*CONSTANTS, tuple)):
        return _constant_operation(machine, kind, left, right)
    return machine.unknown("", not_none=True)


def _constant_operation(machine: Machine, kind: type, left: Any, right: Any) -> Object:
    if too_big(kind, left, right):
        return machine.unknown("", not_none=True)
    if kind is ast.Mod and isinstance(left, (str, bytes)) and not _all_constant(right):
        return machine.unknown("", not_none=True)
    try:
        found = BINARY[kind](left, right)
    except (TypeError, ValueError, ArithmeticError, KeyError, MemoryError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    return found if is_small(found) else machine.unknown("", not_none=True)


def _all_constant(value: Any) -> bool:
    return all(map(_all_constant, value)) if isinstance(value, tuple) else isinstance(value, CONSTANTS)


def too_big(kind: type, left: Any, right: Any) -> bool:
    if kind is ast.Pow:
        return isinstance(left, int) and isinstance(right, int) and (abs(left) > BIG or abs(right) > 256)
    if kind is ast.LShift:
        return isinstance(right, int) and right > 256
    if kind is ast.Mult:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, bytes, tuple)) and isinstance(other, int) and len(one) * other > BIG:
                return True
        return isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > 4096
    if kind is ast.Add and isinstance(left, (str, bytes, tuple)) and isinstance(right, (str, bytes, tuple)):
        return len(left) + len(right) > BIG
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        longest = max(map(_length, right), default=0) if isinstance(right, tuple) else _length(right)
        return len(left) > 10_000 or len(left) * longest > BIG or is_wide(str(left))
    return False


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes)) else 0


def _list_operation(machine: Machine, kind: type, left: ListObject, right: Object) -> Object:
    if kind is ast.Add and isinstance(right, ListObject):
        known = left.items is not None and right.items is not None
        both = left.items + right.items if known and len(left.items) + len(right.items) <= LONGEST_LIST else None
        return ListObject(both, machine.tick())
    if kind is ast.Mult and isinstance(right, int):
        if left.items is None or len(left.items) * right > LONGEST_LIST:
            return ListObject(None, machine.tick())
        return ListObject(left.items * right, machine.tick())
    if isinstance(right, (*CONSTANTS, tuple)):
        raise Raised("TypeError", "unsupported operand types")
    return machine.unknown("", not_none=True)


def _set_operation(machine: Machine, kind: type, left: SetObject, right: SetObject) -> Object:
    if left.items is None or right.items is None:
        return machine.unknown("", not_none=True)
    machine.charge(4 * (len(left.items) + len(right.items)))
    try:
        one, other = dict.fromkeys(left.items), dict.fromkeys(right.items)
    except TypeError:
        return machine.unknown("", not_none=True)
    if kind is ast.BitOr:
        found = [*one, *(item for item in other if item not in one)]
    elif kind is ast.BitAnd:
        found = [item for item in one if item in other]
    elif kind is ast.Sub:
        found = [item for item in one if item not in other]
    elif kind is ast.BitXor:
        found = [*(item for item in one if item not in other), *(item for item in other if item not in one)]
    else:
        raise Raised("TypeError", "unsupported operand types")
    return SetObject(found, machine.tick())


def _binary_over(machine: Machine, kind: type, left: Object, right: Object) -> Object:
    lefts = left.options if isinstance(left, Choice) else (left,)
    rights = right.options if isinstance(right, Choice) else (right,)
    if len(lefts) * len(rights) > 64:
        return machine.unknown("", not_none=True)
    found = []
    for one in lefts:
        for other in rights:
            try:
                found.append(binary(machine, kind, one, other))
            except Raised:
                machine.doubts += 1
    if not found:
        raise Raised("TypeError", "unsupported operand types")
    return join(machine, found)


def sign(machine: Machine, op: ast.unaryop, value: Object) -> Object:
    if not isinstance(value, (int, float, complex)):
        if isinstance(value, (str, bytes, tuple, type(None))):
            raise Raised("TypeError", "bad operand type for unary operator")
        return machine.unknown("", not_none=True)
    try:
        return -value if isinstance(op, ast.USub) else +value if isinstance(op, ast.UAdd) else ~value  # type: ignore[operator]  # `~1.5` raises
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
