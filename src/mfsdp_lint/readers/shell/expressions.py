"""Expressions within words that need no state of a script: `$((…))`, `{a,b}`, and the changes in `${X%.*}`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

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
    """Return an arithmetic expression's value, None if it is not known; `value` gives a variable's text."""
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


_GROUP = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))")
_MOST_WORDS = 64


def braced_words(text: str) -> list[str] | None:
    """Expand the braces of a word without quotes; return None for groups within groups and for letters."""
    found = next((each for each in _GROUP.finditer(text) if "," in each[1] or ".." in each[1]), None)
    if found is None:
        return [text] if "{" not in text or "," not in text else None
    middle = _alternatives(found[1])
    after = braced_words(text[found.end() :])
    before = text[: found.start()]
    if (
        middle is None
        or after is None
        or before.count("{") != before.count("}")
        or len(middle) * len(after) > _MOST_WORDS
    ):
        return None
    return [before + each + rest for each in middle for rest in after]


def _alternatives(inner: str) -> list[str] | None:
    if "," in inner:
        return inner.split(",")
    found = _RANGE.fullmatch(inner)
    if found is None or abs(int(found[1]) - int(found[2])) >= _MOST_WORDS:
        return None
    first, last = int(found[1]), int(found[2])
    step = 1 if first <= last else -1
    return [str(number) for number in range(first, last + step, step)]


def changed_text(text: str, change: str) -> str | None:
    """Edit a text as `%.*`, `##*/`, `/a/b`, `,,` or `^^` does; return None for every other change."""
    if change in (",,", "^^"):
        return text.lower() if change == ",," else text.upper()
    if (found := re.fullmatch(r":(\d+)(?::(\d+))?", change)) is not None:
        start = int(found[1])
        return text[start:] if found[2] is None else text[start : start + int(found[2])]
    if change[0] == "/":
        parts = change.lstrip("/").split("/")
        if len(parts) > 2 or any(each in parts[0] for each in "*?[\\\"'"):
            return None
        new = parts[1].strip("\"'") if len(parts) == 2 else ""
        return text.replace(parts[0], new, -1 if change.startswith("//") else 1) if parts[0] else None
    if change[0] in "%#":
        pattern = change.lstrip(change[0])
        longest = len(change) - len(pattern) == 2
        return None if any(each in pattern for each in "\\\"'") else _without(text, pattern, change[0], longest=longest)
    return None


def _without(text: str, pattern: str, side: str, *, longest: bool) -> str:
    cuts = range(len(text) + 1)
    if side == "#":
        ends = [end for end in cuts if fnmatchcase(text[:end], pattern)]
        return text[(max if longest else min)(ends) :] if ends else text
    starts = [start for start in cuts if fnmatchcase(text[start:], pattern)]
    return text[: (min if longest else max)(starts)] if starts else text
