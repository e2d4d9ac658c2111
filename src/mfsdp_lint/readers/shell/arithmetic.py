"""`$((…))` and `((…))`: whole numbers, with Python's grammar for what both languages write alike."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_LONGEST = 200
_BIGGEST = 2**63

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def number_of(source: str, value: Callable[[str], str | None]) -> int | None:
    """Return the value of an arithmetic expression, None where it is not known or not modelled; `value` gives a
    variable's text.
    """
    text = re.sub(r"\$\{?(\w+)\}?", r"\1", source.strip())
    if len(text) > _LONGEST or re.search(r"[^\w\s+\-*/%()<>=!]|\*\*|<<|>>|(?<![<>=!])=(?!=)|//|\b0\d", text):
        return None
    try:
        return _number(ast.parse(text, mode="eval").body, value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _number(node: ast.expr, value: Callable[[str], str | None]) -> int | None:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            text = value(name)
            return int(text) if text is not None and re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text.strip()) else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = _number(operand, value)
            return None if found is None else -found
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _number(left, value), _number(right, value))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            first, second = _number(left, value), _number(right, value)
            return (
                None
                if first is None or second is None or type(op) not in _COMPARE
                else int(_COMPARE[type(op)](first, second))
            )
        case _:
            return None


def _binary(op: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if isinstance(op, (ast.Div, ast.Mod)):
        # The shell cuts towards nothing, Python does not.
        if right == 0 or left < 0 or right < 0:
            return None
        return left // right if isinstance(op, ast.Div) else left % right
    change = _BINARY.get(type(op))
    found = None if change is None else change(left, right)
    return found if found is None or abs(found) < _BIGGEST else None
