"""Templates of Jinja: what is known of their values is put in.

Facts: Jinja 3.1 (jinja2/lexer.py: what `-`, `trim_blocks` and `lstrip_blocks` take away; jinja2/filters.py;
jinja2/runtime.py, LoopContext), and Ansible's own filters `bool` and `ternary`. An expression is read as one of Python,
which it nearly is. But a filter binds more tightly than what may stand in front of it: of `a + b | f` nothing is known.
"""

from __future__ import annotations

import ast
import operator
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.embedding_formats.template_values import MOST, UNKNOWN_ITEM, Item, Scalar, UnknownItem


class TemplateNotFollowed(Exception):
    """A template whose syntax is not followed, or which nobody can fill in: a condition, or a loop, is not known."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A part of what a template gives: its own text between two offsets, or a value that is put in there."""

    start: int
    end: int
    item: Item | None = None


UNDEFINED = Scalar(None)
"""The value of a name that nobody defines: false, and printed as nothing."""


class OpenMapping(dict[str, Item]):
    """Entries of a value that has more than they: what it lacks is not known."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return an entry, or that it is not known."""
        return super().get(key, UNKNOWN_ITEM)


# -- the tree ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tag:
    """A tag, or text between tags (no `word`): `end` is behind what goes with it. `branches` are the tags that part a
    block, this one first, each with the nodes behind it.
    """

    start: int
    end: int
    word: str = ""
    said: str = ""
    branches: list[tuple[_Tag, list[_Tag]]] = field(default_factory=list)
    closed: tuple[int, int] = (0, 0)


_TAG = lazy_pattern(
    r"\{#(?P<comment>.*?)#\}"
    r"|\{%(?P<left>[-+]?)\s*raw\s*-?%\}(?P<raw>.*?)\{%-?\s*endraw\s*(?P<raw_right>[-+]?)%\}"
    r"|\{%(?P<from>[-+]?)\s*(?P<word>\w+)(?P<said>(?:\"[^\"]*\"|'[^']*'|(?!-?%\})[^\"'])*)(?P<to>[-+]?)%\}"
    r"|\{\{(?P<before>[-+]?)(?P<value>(?:\"[^\"]*\"|'[^']*'|(?!-?\}\})[^\"'])*)(?P<behind>[-+]?)\}\}",
    re.DOTALL,
)
_OPENS = lazy_pattern(r"\{[{%#]")
_LONGEST = 100_000
"""Characters of a template that people write."""
_BLOCKS = {"if": "endif", "for": "endfor"}
_PARTS = {"elif": "if", "else": "if for"}


def _parsed(text: str, *, trim: bool, lstrip: bool) -> list[_Tag]:
    """Parse a template. Raises TemplateNotFollowed."""
    if len(text) > _LONGEST or len(_OPENS.findall(text)) > MOST:
        raise TemplateNotFollowed
    root: list[_Tag] = []
    here = root
    waiting: list[tuple[_Tag, list[_Tag]]] = []
    at = 0
    for found in (*_TAG.finditer(text), None):
        start = end = len(text) if found is None else found.start()
        if found is not None:
            sign = found["left"] or found["from"] or found["before"] or ""
            if sign == "-":
                end = at + len(text[at:start].rstrip())
            elif lstrip and sign != "+" and found["value"] is None:
                line = text.rfind("\n", 0, start) + 1
                end = line if not text[line:start].strip(" \t") and line >= at else end
        if at < end:
            here.append(_Tag(at, end))
        if found is None:
            break
        at = _behind(found, text, trim=trim)
        if found["value"] is not None:
            here.append(_Tag(start, found.end(), "print", found["value"].strip()))
        elif found["raw"] is not None:
            here.append(_Tag(*found.span("raw")))
        elif (word := found["word"]) in _BLOCKS:
            tag = _Tag(start, at, word, found["said"].strip())
            tag.branches.append((tag, []))
            here.append(tag)
            waiting.append((tag, here))
            here = tag.branches[0][1]
        elif word in _PARTS and waiting and waiting[-1][0].word in _PARTS[word]:
            waiting[-1][0].branches.append((_Tag(start, at, word, found["said"].strip()), []))
            here = waiting[-1][0].branches[-1][1]
        elif waiting and word == _BLOCKS[waiting[-1][0].word]:
            tag, here = waiting.pop()
            tag.closed = start, at
        elif word == "set" and "=" in found["said"]:
            here.append(_Tag(start, at, "set", found["said"].strip()))
        elif word is not None:
            raise TemplateNotFollowed
    if waiting:
        raise TemplateNotFollowed
    return root


def _behind(found: re.Match[str], text: str, *, trim: bool) -> int:
    """Return where the text behind a tag begins."""
    end = found.end()
    sign = found["to"] or found["behind"] or found["raw_right"] or ""
    if sign == "-" or (found["comment"] or "").endswith("-"):
        return end + len(text[end:]) - len(text[end:].lstrip())
    is_block = found["word"] is not None or found["comment"] is not None or found["raw"] is not None
    return end + (trim and sign != "+" and is_block and text[end : end + 1] == "\n")


# -- what it gives -------------------------------------------------------------------------------------------------


def filled_template(
    text: str,
    values: Mapping[str, Item],
    *,
    trim: bool = False,
    lstrip: bool = False,
    keeps: bool = False,
) -> list[Printed]:
    """Return the parts of what a template gives.

    With `keeps` the values are not all: a name without one is not known, and statements that depend on it stay as they
    are. Without, a name without a value is undefined. Raises TemplateNotFollowed.
    """
    filling = _Filling(text, keeps)
    return list(filling.run(_parsed(text, trim=trim, lstrip=lstrip), dict(values)))


class _Filling:
    def __init__(self, text: str, keeps: bool) -> None:
        self._text = text
        self._keeps = keeps
        self._left = MOST

    def run(self, nodes: Sequence[_Tag], scope: dict[str, Item]) -> Iterator[Printed]:
        self._left -= 1
        if self._left < 0:
            raise TemplateNotFollowed
        for node in nodes:
            match node.word:
                case "":
                    yield Printed(node.start, node.end)
                case "print":
                    item = self._value(node.said, scope)
                    kept = self._keeps and isinstance(item, UnknownItem)
                    yield Printed(node.start, node.end, None if kept else item)
                case "set":
                    name, _, said = node.said.partition("=")
                    scope[name.strip()] = self._value(said, scope)
                case "if":
                    yield from self._if(node, scope)
                case "for":
                    yield from self._for(node, scope)

    def _if(self, node: _Tag, scope: dict[str, Item]) -> Iterator[Printed]:
        for number, (tag, body) in enumerate(node.branches):
            holds = True if tag.word == "else" else truth(self._value(tag.said, scope))
            if holds:
                yield from self.run(body, scope)
                return
            if holds is None:
                yield from self._kept(node, node.branches[number:], scope)
                return

    def _kept(
        self, node: _Tag, branches: Sequence[tuple[_Tag, list[_Tag]]], scope: dict[str, Item]
    ) -> Iterator[Printed]:
        """Yield what of a block is not decided, with its tags."""
        if not self._keeps:
            raise TemplateNotFollowed
        for number, (tag, body) in enumerate(branches):
            said = self._text[tag.start : tag.end]
            first = Scalar(re.sub(r"\belif\b", "if", said, count=1)) if tag.word == "elif" and not number else None
            yield Printed(tag.start, tag.end, first)
            own = dict(scope)
            yield from self.run(body, own)
            # What one of the branches sets is not known behind them.
            scope.update((name, UNKNOWN_ITEM) for name, item in own.items() if scope.get(name) is not item)
        yield Printed(*node.closed)

    def _for(self, node: _Tag, scope: dict[str, Item]) -> Iterator[Printed]:
        target, _, said = node.said.partition(" in ")
        names = [each.strip() for each in target.strip("() ").split(",")]
        found = self._value(said, scope)
        if isinstance(found, Mapping):
            found = [Scalar(key) for key in found]
        if isinstance(found, UnknownItem | Scalar):
            if found is UNDEFINED:
                raise TemplateNotFollowed
            unknown = dict.fromkeys((*names, "loop"), UNKNOWN_ITEM)
            yield from self._kept(node, node.branches[:1], {**scope, **unknown})
            return
        for number, item in enumerate(found):
            parts = [item] if len(names) == 1 else item
            if not isinstance(parts, Sequence) or len(parts) != len(names):
                raise TemplateNotFollowed
            counted: dict[str, Any] = {"index": number + 1, "index0": number, "length": len(found)}
            counted |= {"first": number == 0, "last": number == len(found) - 1}
            loop = {name: Scalar(value) for name, value in counted.items()}
            yield from self.run(node.branches[0][1], {**scope, **dict(zip(names, parts, strict=True)), "loop": loop})
        if not found and len(node.branches) > 1:
            yield from self.run(node.branches[1][1], scope)

    def _value(self, said: str, scope: Mapping[str, Item]) -> Item:
        return value_of(said, scope, UNKNOWN_ITEM if self._keeps else UNDEFINED)


# -- expressions ---------------------------------------------------------------------------------------------------


class _NotKnownError(Exception):
    """An expression of which the value is not known."""


def value_of(said: str, scope: Mapping[str, Item], missing: Item = UNKNOWN_ITEM) -> Item:
    """Return the value of an expression; `missing` is that of a name which the scope lacks."""
    try:
        return _evaluated(ast.parse(_in_python(said.strip()), mode="eval").body, scope, missing)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, LookupError, RecursionError, _NotKnownError):
        return UNKNOWN_ITEM


_UNLIKE_PYTHON = lazy_pattern(
    r"(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<joins>~)"
    r"|\bis (?P<sign>not )?(?P<test>sameas|eq|equalto|ne|gt|ge|lt|le|divisibleby) "
    r"(?P<operand>'[^']*'|\"[^\"]*\"|[\w.]+)"
)


def _in_python(said: str) -> str:
    """Write an expression for Python: `x is sameas true` as `x is sameas(true)`, and `a ~ b` as `a @ b`."""

    def written(found: re.Match[str]) -> str:
        if found["test"]:
            return f"is {found['sign'] or ''}{found['test']}({found['operand']})"
        return found["text"] or "@"

    return _UNLIKE_PYTHON.sub(written, said)


def truth(item: Item) -> bool | None:
    """Tell whether a condition holds; None where that is not known."""
    if isinstance(item, UnknownItem):
        return None
    return bool(item.value) if isinstance(item, Scalar) else bool(item)


_CONSTANTS = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "sameas": lambda one, other: one is other or (type(one) is type(other) and isinstance(one, str) and one == other),
    **dict.fromkeys(("eq", "equalto"), operator.eq),
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "divisibleby": lambda one, other: int(one) == one and one % other == 0,
}
"""The tests with an operand."""
_COMPUTED: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_LARGEST = 10**9
_TRUE_WORDS = ("true", "yes", "on", "1")


def _evaluated(node: ast.expr, scope: Mapping[str, Item], missing: Item) -> Item:
    def value(each: ast.expr) -> Item:
        return _evaluated(each, scope, missing)

    match node:
        case ast.Constant(value=str() | bool() | int() | float() | None as constant):
            return Scalar(constant)
        case ast.Name(id=name):
            return scope[name] if name in scope else Scalar(_CONSTANTS[name]) if name in _CONSTANTS else missing
        case ast.Attribute(value=owner, attr=key) | ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
            return _entry(value(owner), key, missing)
        case ast.Subscript(value=owner, slice=ast.Constant(value=int(place))):
            several = value(owner)
            return several[place] if isinstance(several, Sequence) else UNKNOWN_ITEM
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [value(each) for each in elements]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            known = truth(value(operand))
            return UNKNOWN_ITEM if known is None else Scalar(not known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Scalar(-_plain(value(operand)))
        case ast.BoolOp(op=kind, values=operands):
            return _either([value(each) for each in operands], stops=isinstance(kind, ast.Or))
        case ast.IfExp(test=test, body=body, orelse=other):
            known = truth(value(test))
            return UNKNOWN_ITEM if known is None else value(body if known else other)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as kind], comparators=[ast.Name(id=test)]):
            known = _tested(value(left), test)
            return UNKNOWN_ITEM if known is None else Scalar(known == isinstance(kind, ast.Is))
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=test))]):
            known = _tested(value(left), test)
            return UNKNOWN_ITEM if known is None else Scalar(not known)
        case ast.Compare(
            left=left,
            ops=[ast.Is() | ast.IsNot() as kind],
            comparators=[ast.Call(func=ast.Name(id=test), args=[operand])],
        ) if test in _TESTS:
            if isinstance(left, ast.BinOp):
                return UNKNOWN_ITEM  # (a test is for the last operand alone)
            holds = _TESTS[test](_plain(value(left)), _plain(value(operand)))
            return Scalar(holds == isinstance(kind, ast.Is))
        case ast.Compare(left=left, ops=[kind], comparators=[right]) if type(kind) in _COMPARED:
            return Scalar(_COMPARED[type(kind)](_plain(value(left)), _plain(value(right))))
        case ast.BinOp(left=left, op=ast.BitOr(), right=filter_):
            return _filtered(node, left, filter_, value)
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return Scalar(_joined(spelled(_plain(value(left))), spelled(_plain(value(right)))))
        case ast.BinOp(left=ast.BinOp(op=ast.MatMult())):
            return UNKNOWN_ITEM  # (`~` binds less tightly than what Python has on its level)
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _COMPUTED:
            first, second = value(left), value(right)
            if isinstance(kind, ast.Add) and isinstance(first, Sequence) and isinstance(second, Sequence):
                return [*first, *second][: MOST + 1]
            one, other = _plain(first), _plain(second)
            are_texts = isinstance(kind, ast.Add) and isinstance(one, str) and isinstance(other, str)
            if not are_texts and not all(
                isinstance(each, int | float) and abs(each) < _LARGEST for each in (one, other)
            ):
                return UNKNOWN_ITEM
            return Scalar(_COMPUTED[type(kind)](one, other))
        case ast.Call(func=ast.Name(id="range"), args=numbers):
            counted = range(*(_plain(value(each)) for each in numbers))
            return [Scalar(each) for each in counted[: MOST + 1]]
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]):
            table = value(owner)
            return [[Scalar(key), each] for key, each in table.items()] if _is_whole(table) else UNKNOWN_ITEM
        case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=str(key)), *rest]):
            table = value(owner)
            if not isinstance(table, Mapping):
                return UNKNOWN_ITEM
            return table[key] if key in table else value(rest[0]) if rest else Scalar(None)
    return UNKNOWN_ITEM


def _is_whole(item: Item) -> TypeGuard[Mapping[str, Item]]:
    """Tell whether a value is a table without other entries than those that it has here."""
    return isinstance(item, Mapping) and not isinstance(item, OpenMapping)


def _entry(owner: Item, key: str, missing: Item) -> Item:
    if not isinstance(owner, Mapping):
        return UNKNOWN_ITEM
    return owner.get(key, missing)


def _either(operands: Sequence[Item], *, stops: bool) -> Item:
    for each in operands[:-1]:
        known = truth(each)
        if known is None or known is stops:
            return each
    return operands[-1]


def _tested(item: Item, test: str) -> bool | None:
    """Tell whether a test holds (`x is defined`)."""
    if isinstance(item, UnknownItem):
        return None
    value = item.value if isinstance(item, Scalar) else item
    match test:
        case "defined" | "undefined":
            return (item is not UNDEFINED) == (test == "defined")
        case "none":
            return value is None and item is not UNDEFINED
        case "true" | "false":
            return value is (test == "true")
        case "string" | "mapping":
            return isinstance(value, str if test == "string" else Mapping)
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int | float)
        case "integer" | "float":
            return type(value) is (int if test == "integer" else float)
    return None


def _plain(item: Item) -> Any:
    """Return a value as Python has it. Raises _NotKnownError."""
    if isinstance(item, Scalar) and item is not UNDEFINED:
        return item.value
    if isinstance(item, Mapping | UnknownItem | Scalar):
        raise _NotKnownError
    return [_plain(each) for each in item]


def _replaced(text: str, old: str, new: str) -> str:
    if len(text) * (len(new) + 1) > _LONGEST:
        raise _NotKnownError
    return text.replace(old, new)


def _joined(*texts: str) -> str:
    if sum(map(len, texts)) > _LONGEST:
        raise _NotKnownError
    return "".join(texts)


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "int": lambda value: int(float(value)) if isinstance(value, str) else int(value),
    "float": float,
    "string": lambda value: value if isinstance(value, str) else spelled(value),
    "lower": lambda value: spelled(value).lower(),
    "upper": lambda value: spelled(value).upper(),
    "trim": lambda value: spelled(value).strip(),
    "capitalize": lambda value: spelled(value).capitalize(),
    "abs": abs,
    "max": lambda value: max(value, key=operator.pos),
    "min": lambda value: min(value, key=operator.pos),
    "sum": sum,
    "length": len,
    "count": len,
    "join": lambda value, between="": between.join(map(spelled, value)),
    "quote": lambda value: shlex.quote(spelled(value)),
    "bool": lambda value: value.lower() in _TRUE_WORDS if isinstance(value, str) else bool(value),
    "ternary": lambda value, yes, no: yes if value else no,
    "replace": lambda value, old, new: _replaced(spelled(value), old, new),
}


def _filtered(node: ast.BinOp, left: ast.expr, filter_: ast.expr, value: Callable[[ast.expr], Item]) -> Item:
    """Return what a filter makes of a value."""
    if isinstance(left, ast.BinOp) and not isinstance(left.op, ast.BitOr):
        return UNKNOWN_ITEM  # (it is for the last operand alone)
    called, given = (filter_.func, filter_.args) if isinstance(filter_, ast.Call) else (filter_, [])
    if not isinstance(called, ast.Name) or (isinstance(filter_, ast.Call) and filter_.keywords):
        return UNKNOWN_ITEM
    name = called.id
    item = value(left)
    if name in ("default", "d"):
        also_false = len(given) > 1 and truth(value(given[1]))
        if isinstance(item, UnknownItem):
            return item
        return value(given[0]) if given and (item is UNDEFINED or (also_false and not truth(item))) else item
    if name in ("first", "last") and isinstance(item, Sequence) and item:
        return item[0 if name == "first" else -1]
    if _is_whole(item) and name in ("length", "count"):
        return Scalar(len(item))
    if _is_whole(item) and name in ("items", "dictsort") and not given:
        keys = sorted(item, key=str.lower) if name == "dictsort" else list(item)
        return [[Scalar(key), item[key]] for key in keys]
    if isinstance(item, Sequence) and name == "list":
        return item
    if name not in _FILTERS:
        return UNKNOWN_ITEM
    if isinstance(item, Scalar) and isinstance(item.value, str) and name in ("string", "trim", "quote"):
        same = _FILTERS[name](item.value) == item.value
        return item if same else Scalar(_FILTERS[name](item.value))
    return Scalar(_FILTERS[name](_plain(item), *(_plain(value(each)) for each in given)))


def spelled(value: Any) -> str:
    """Return what Jinja prints for a value."""
    return value if isinstance(value, str) else str(value)
