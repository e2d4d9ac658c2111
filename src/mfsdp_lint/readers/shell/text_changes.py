"""Arithmetic, braces, and changes of a text, as the shell works them out: `1 + X`, `{a,b}`, `%.*`."""

from __future__ import annotations

import ast
import operator
import re
import shlex
from collections.abc import Callable
from fnmatch import fnmatchcase, translate

from mfsdp_lint.core.patterns import lazy_pattern

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


_TERNARY = lazy_pattern(r"([^?:]+)\?([^?:]+):([^?:]+)")


def number_of(source: str, value: Callable[[str], str | None]) -> int | None:
    """Return an arithmetic expression's value, None if it is not known; `value` gives a variable's text."""
    text = re.sub(r"\$\{?(\w+)\}?", r"\1", source.strip())
    if len(text) > _LONGEST or re.search(
        r"[^\w\s+\-*/%()<>=!&|?:]|\*\*|<<|>>|(?<![<>=!])=(?!=)|//|\b0\d|(?<!&)&(?!&)|(?<!\|)\|(?!\|)", text
    ):
        return None
    text = _TERNARY.sub(r"(\2) if (\1) else (\3)", text).replace("&&", " and ").replace("||", " or ")
    try:
        return _number(ast.parse(re.sub(r"!(?!=)", " not ", text).strip(), mode="eval").body, value)
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
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = _number(operand, value)
            return None if found is None else int(not found)
        case ast.IfExp(test=test, body=body, orelse=other):
            found = _number(test, value)
            return None if found is None else _number(body if found else other, value)
        case ast.BoolOp(op=op, values=operands):
            for operand in operands:
                found = _number(operand, value)
                if found is None or bool(found) is isinstance(op, ast.Or):
                    return None if found is None else int(bool(found))
            return int(isinstance(op, ast.And))
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


_GROUP = lazy_pattern(r"\{([^{}]*)\}")
_RANGE = lazy_pattern(r"(-?\d{1,6})\.\.(-?\d{1,6})")
VARIABLE_RANGE = lazy_pattern(r"\{(?:\$[^{}]*\.\.|[^{}]*\.\.\$)[^{}]*\}")
"""Braces with a variable as an end of a range, which the shell does not expand."""
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
    padded = any(re.match(r"-?0\d", each) for each in found.groups())
    width = max(map(len, found.groups())) if padded else 0
    return [f"{number:0{width}}" for number in range(first, last + step, step)]


_CASES: dict[str, Callable[[str], str]] = {
    ",,": str.lower,
    "^^": str.upper,
    ",": lambda text: text[:1].lower() + text[1:],
    "^": lambda text: text[:1].upper() + text[1:],
    "@L": str.lower,
    "@U": str.upper,
    "@u": lambda text: text[:1].upper() + text[1:],
    "@Q": shlex.quote,
    "@E": lambda text: text,
}


def changed_text(text: str, change: str) -> str | None:
    """Edit a text as `%.*`, `##*/`, `/a/b`, `,,` or `^^` does; return None for every other change."""
    if change in _CASES:
        return _CASES[change](text)
    if (found := re.fullmatch(r":\s*(-?\d+)(?::\s*(-?\d+))?", change)) is not None:
        start = int(found[1]) if int(found[1]) >= 0 else max(len(text) + int(found[1]), 0)
        length = None if found[2] is None else int(found[2])
        return text[start:] if length is None else text[start:length] if length < 0 else text[start : start + length]
    if change[0] == "/":
        every, at_start, at_end = (change.startswith(each) for each in ("//", "/#", "/%"))
        old, _, new = change[1 + (every or at_start or at_end) :].partition("/")
        if any(each in old + new for each in "\\\"'"):
            old, new = (each.replace('"', "").replace("'", "").replace("\\", "") for each in (old, new))
        if not old:
            return new + text if at_start else text + new if at_end else text
        pattern = re.compile(("^" if at_start else "") + _of_glob(old) + ("$" if at_end else ""), re.DOTALL)
        return pattern.sub(lambda _: new, text, count=0 if every else 1)
    if change[0] in "%#":
        glob = change.lstrip(change[0])
        longest = len(change) - len(glob) == 2
        return None if any(each in glob for each in "\\\"'") else _without(text, glob, change[0], longest=longest)
    return None


def _of_glob(glob: str) -> str:
    """Return a pattern of the shell as a regular expression."""
    return translate(glob).removeprefix("(?s:").removesuffix(r")\Z")


def _without(text: str, pattern: str, side: str, *, longest: bool) -> str:
    cuts = range(len(text) + 1)
    if side == "#":
        ends = [end for end in cuts if fnmatchcase(text[:end], pattern)]
        return text[(max if longest else min)(ends) :] if ends else text
    starts = [start for start in cuts if fnmatchcase(text[start:], pattern)]
    return text[: (min if longest else max)(starts)] if starts else text
