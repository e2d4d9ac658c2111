"""The libcst tree of one statement, cut out of its file: every node with its place, and every write in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.edits import Items
from mfsdp_lint.fixes.statements import PythonFile, Statement

Range = tuple[int, int]

Brackets = cst.Call | cst.Dict | cst.List | cst.Tuple


@dataclass(frozen=True, slots=True)
class WriteNode:
    """A piece of the statement that gives a name a value: an assignment, keyword argument, dictionary entry or call.

    `where` are its offsets; `item` is its place among others between brackets, for those that have one.
    """

    name: str
    value: cst.BaseExpression
    where: Range
    item: tuple[Brackets, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Concrete:
    """A statement's tree and the offsets (in the file) of its nodes. The same only as itself, as its file is."""

    module: cst.Module
    places: Mapping[cst.CSTNode, Range]
    whole: Range

    def nodes(self) -> Iterator[cst.CSTNode]:
        """Yield every node, parents first."""
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    @lru_cache(maxsize=64)  # noqa: B019 (statements are few, and let go with others)
    def writes(self) -> Sequence[WriteNode]:
        """Return every write in the statement, without chained assignments (`a = b = c`), which set several names."""
        return tuple(self._writes())

    def _writes(self) -> Iterator[WriteNode]:
        for node in self.nodes():
            match node:
                case (
                    cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)
                    | cst.AnnAssign(target=target, value=cst.BaseExpression() as value)
                ):
                    if name := _target_name(target):
                        yield WriteNode(name, value, self.whole)
                case cst.Call():
                    yield from self._call(node)
                case cst.Dict(elements=elements):
                    for index, element in enumerate(elements):
                        if isinstance(element, cst.DictElement) and (name := _text(element.key)):
                            yield WriteNode(_last_word(name), element.value, self.places[element], (node, index))
                case cst.List(elements=pairs) | cst.Tuple(elements=pairs):
                    for index, pair in enumerate(pairs):
                        if written := _pair(pair.value):
                            yield WriteNode(*written, self.places[pair], (node, index))

    def items(self, brackets: Brackets) -> Items | None:
        """Locate the items of a call, a dictionary or a list; None if they cannot be located for certain."""
        if isinstance(brackets, cst.Call):
            nodes: list[cst.CSTNode] = list(brackets.args)
            start = self.places[brackets.func][1]
        else:
            nodes = list(brackets.elements)
            start = self.places[brackets][0]
        closing = self.places[brackets][1] - 1
        begin = self.places[nodes[0]][0] if nodes else closing
        bracket = "{" if isinstance(brackets, cst.Dict) else "[" if isinstance(brackets, cst.List) else "("
        opening = self._text.find(bracket, start - self.whole[0], begin - self.whole[0])
        if opening < 0 or self._text[closing - self.whole[0]] not in ")}]":
            return None
        return Items(opening + self.whole[0], closing, [self.places[node] for node in nodes])

    @property
    def _text(self) -> str:
        return self.module.code

    def _call(self, call: cst.Call) -> Iterator[WriteNode]:
        given, func = list(call.args), call.func
        plain = [argument.value for argument in given if argument.keyword is None and not argument.star]
        called = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
        key = _text(plain[-2]) if len(plain) == len(given) and len(plain) >= 2 else None
        if key and (called, len(plain)) in {("setattr", 3), ("setdefault", 2), ("putenv", 2), ("setenv", 2)}:
            yield WriteNode(key, plain[-1], self.places[call])
        for index, argument in enumerate(given):
            if argument.keyword is not None:
                yield WriteNode(argument.keyword.value, argument.value, self.places[argument], (call, index))


def read(file: PythonFile, statement: Statement) -> Concrete | None:
    """Parse one statement; None if libcst refuses it or would not give its text back unchanged."""
    return _read(file, statement.start, statement.end)


@lru_cache(maxsize=64)
def _read(file: PythonFile, start: int, end: int) -> Concrete | None:
    text = file.document.text[start:end]
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    if module.code != text:
        return None
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    data = None if text.isascii() else text.encode()

    def place(offset: int) -> int:
        return start + (offset if data is None else len(data[:offset].decode()))

    places = {
        node: (place(span.start), place(span.start + span.length))
        for node, span in wrapper.resolve(ByteSpanPositionProvider).items()
    }
    return Concrete(module, places, (start, end))


def is_update(module: cst.Module, brackets: Brackets) -> bool:
    """Tell whether the statement is `….update(…)` alone and `brackets` is its whole argument."""
    match module.body:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)])]:
            named = isinstance(call.func, cst.Attribute) and call.func.attr.value == "update"
            return named and len(call.args) == 1 and (call is brackets or call.args[0].value is brackets)
    return False


def _pair(node: cst.BaseExpression) -> tuple[str, cst.BaseExpression] | None:
    """Return the name and the value of `("checkpoint.ckpt_format", "torch_dist")`."""
    match node:
        case cst.Tuple(elements=[cst.Element(value=key), cst.Element(value=value)]) if name := _text(key):
            return _last_word(name), value
    return None


def _last_word(name: str) -> str:
    return name.rpartition(".")[2]


def _target_name(target: cst.BaseExpression) -> str | None:
    match target:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return _text(key)
    return None


def _text(node: cst.BaseExpression) -> str | None:
    """Return the text of a plain string literal; None for any other expression."""
    if not isinstance(node, cst.SimpleString):
        return None
    value = node.evaluated_value
    return value if isinstance(value, str) else None
