"""Templates of Go, with the functions of go_functions.py.

Facts: text/template of Go 1.24 (the grammar, what is true, `{{-` and `-}}`), and Helm 3.18 (pkg/engine/engine.go:
`include`, `tpl`). What is not followed is not known: within a line it is a HOLE; where it may be lines of its own, such
as the body of a condition that cannot be decided, GAP stands for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.readers.embedding_formats.go_functions import (
    FUNCTIONS,
    GAP,
    NOTHING,
    is_small,
    joined,
    made,
    numbers,
    printed,
    truth,
)
from mfsdp_lint.readers.embedding_formats.template_values import MOST, UNKNOWN_ITEM, Item, Scalar
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, plain, standing_at

_DEEPEST = 24
"""Templates within templates."""

_LARGEST = 20_000
"""Parts of a value."""


class _NotFollowedError(Exception):
    """A template whose syntax is not followed."""


# -- the tree ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Verbatim:
    text: Piece


@dataclass(slots=True)
class _Action:
    """An action; `branches` are the bodies of `if`, `with`, `range`, each with the pipeline that leads there (None:
    the last one, without a condition).
    """

    word: str
    place: Piece
    said: str = ""
    branches: list[tuple[str | None, list[_Node]]] = field(default_factory=list)


_Node = _Verbatim | _Action

_DELIMITED = lazy_pattern(
    r"""\{\{(?P<left>-(?=\s))?
    (?P<said>\s*/\*.*?\*/\s*
      |(?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|(?!-?\}\})[^"`'])*?)
    (?P<right>(?<=\s)-)?\}\}""",
    re.DOTALL | re.VERBOSE,
)
_BLOCKS = ("if", "with", "range", "define", "block")


def _parsed(source: Piece, defined: dict[str, list[_Node]]) -> list[_Node]:
    """Parse a template; `defined` receives those that it defines. Raises _NotFollowedError."""
    root: list[_Node] = []
    here = root
    open_: list[tuple[_Action, list[_Node]]] = []
    at, trims = 0, False
    last = source.text.rfind("}}") + 2  # behind it nothing is looked for: from each `{{` that takes quadratic time
    for found in (*_DELIMITED.finditer(source.text, 0, last), None):
        literal = source.text[at : len(source.text) if found is None else found.start()]
        start, end = at, at + len(literal)
        if trims:
            start = end - len(literal.lstrip())
        if found is not None and found["left"]:
            end = max(start, at + len(literal.rstrip()))
        if start < end:
            here.append(_Verbatim(source.cut(start, end)))
        if found is None:
            break
        at, trims = found.end(), bool(found["right"])
        said = found["said"].strip()
        place = source.cut(*found.span())
        first = re.match(r"[a-z]+\b", said)
        word, rest = (first[0], said[first.end() :].strip()) if first else ("", said)
        if word in _BLOCKS:
            action = _Action(word, place, rest, [(rest, [])])
            if word != "define":
                here.append(action)
            open_.append((action, here))
            here = action.branches[0][1]
        elif word == "else" and open_:
            condition = re.sub(r"^(?:if|with)\b\s*", "", rest) if rest else None
            open_[-1][0].branches.append((condition, []))
            here = open_[-1][0].branches[-1][1]
        elif word == "end" and open_:
            action, here = open_.pop()
            if action.word in ("define", "block"):
                defined[_name_in(action.said)] = action.branches[0][1]
        elif word in ("else", "end"):
            raise _NotFollowedError
        elif said and not said.startswith("/*"):
            here.append(_Action(word if word == "template" else "", place, rest if word == "template" else said))
    if open_:
        raise _NotFollowedError
    return root


def _name_in(said: str) -> str:
    found = re.match(r'"([^"]*)"|`([^`]*)`', said)
    return (found[1] or found[2] or "") if found else ""


_TOKEN = lazy_pattern(
    r"""(?P<blank>\s+)|(?P<text>"(?:\\.|[^"\\])*")|(?P<raw>`[^`]*`)|(?P<number>[-+]?\d[\w.]*)
    |(?P<sets>:?=)|(?P<mark>[|(),])|(?P<variable>\$\w*(?:\.\w+)*)|(?P<field>\.\w+(?:\.\w+)*)|(?P<dot>\.)
    |(?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    close: bool
    """True where no blank stands in front of it."""


def _tokens(said: str) -> list[_Token]:
    found: list[_Token] = []
    at, close = 0, False
    while at < len(said):
        match = _TOKEN.match(said, at)
        if match is None:
            raise _NotFollowedError
        if match.lastgroup != "blank":
            found.append(_Token(match.lastgroup or "", match[0], close))
        close = match.lastgroup != "blank"
        at = match.end()
    return found


# -- what a template gives -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Templates:
    """Templates by the names that they define, and the text of a file that they read; None where there is none."""

    defined: dict[str, list[_Node]] = field(default_factory=dict)
    file: Callable[[str], Text | None] = lambda _: None
    left: int = MOST

    def add(self, text: Piece) -> None:
        """Add what a text defines; a text that is not followed defines nothing."""
        try:
            _parsed(text, self.defined)
        except _NotFollowedError:
            return

    def rendered(self, text: Piece, root: Mapping[str, Item]) -> Text | None:
        """Return what a template gives with `.` for a root; None where its syntax is not followed."""
        try:
            nodes = _parsed(text, self.defined)
        except _NotFollowedError:
            return None
        self.left = MOST
        return joined(_Rendering(self, root).nodes(nodes, root))

    def takes(self, rounds: int) -> bool:
        """Tell whether so many more rounds are allowed, and count them."""
        self.left -= rounds
        return self.left >= 0


class _Rendering:
    """A template that is being filled in. `variables` are those of the blocks around, the innermost last."""

    def __init__(self, templates: Templates, root: Item, depth: int = 0) -> None:
        self.templates = templates
        self.variables: list[dict[str, Item]] = [{"$": root}]
        self.depth = depth

    def nodes(self, nodes: Sequence[_Node], dot: Item) -> Iterator[Piece]:
        """Yield what nodes give."""
        for node in nodes:
            if isinstance(node, _Verbatim):
                yield node.text
            else:
                yield from self._action(node, dot)

    def _block(self, nodes: Sequence[_Node], dot: Item, **variables: Item) -> Iterator[Piece]:
        self.variables.append(dict(variables))
        yield from self.nodes(nodes, dot)
        self.variables.pop()

    def _action(self, node: _Action, dot: Item) -> Iterator[Piece]:
        match node.word:
            case "if" | "with":
                yield from self._branches(node, dot)
            case "range":
                yield from self._range(node, dot)
            case "block" | "template":
                name, rest = _name_in(node.said), re.sub(r'^("[^"]*"|`[^`]*`)\s*', "", node.said)
                given = self._value(rest, node.place, dot) if rest else NOTHING
                yield from self.included(name, given, node.place)
            case _:
                value = self._value(node.said, node.place, dot)
                if value is not None:
                    yield from printed(value, node.place)

    def _branches(self, node: _Action, dot: Item) -> Iterator[Piece]:
        for condition, body in node.branches:
            if condition is None:
                yield from self._block(body, dot)
                return
            self.variables.append({})
            value = self._value(condition, node.place, dot, keeps=True)
            holds = truth(value)
            if holds is None:
                yield from self._gap(node)
            elif holds:
                yield from self.nodes(body, value if node.word == "with" and value is not None else dot)
            self.variables.pop()
            if holds is not False:
                return

    def _range(self, node: _Action, dot: Item) -> Iterator[Piece]:
        said = node.branches[0][0] or ""
        named = re.match(r"(?:(\$\w+)\s*,\s*)?(\$\w+)\s*:=\s*", said)
        value = self._value(said[named.end() :] if named else said, node.place, dot)
        if isinstance(value, Scalar) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
            value = numbers(node.place, value)
        entries: list[tuple[Item, Item]]
        if isinstance(value, Sized) and not self.templates.takes(len(value)):
            yield from self._gap(node)
            return
        if isinstance(value, Mapping):
            entries = [(_key(name, value[name], node.place), value[name]) for name in sorted(value)]
        elif isinstance(value, Sequence):
            entries = [(made(number, node.place), each) for number, each in enumerate(value)]
        elif truth(value) is False:
            entries = []
        else:
            yield from self._gap(node)
            return
        for key, each in entries:
            names = (
                {}
                if named is None
                else {name: item for name, item in zip(named.groups(), (key, each), strict=True) if name}
            )
            yield from self._block(node.branches[0][1], each, **names)
        if not entries and len(node.branches) > 1:
            yield from self._block(node.branches[1][1], dot)

    def included(self, name: str, given: Item | None, place: Piece) -> Iterator[Piece]:
        """Yield what a template gives that has a name."""
        nodes = self.templates.defined.get(name)
        if nodes is None or self.depth >= _DEEPEST or not self.templates.takes(1):
            yield replace(place, text=GAP)
            return
        inner = _Rendering(self.templates, NOTHING if given is None else given, self.depth + 1)
        yield from inner.nodes(nodes, NOTHING if given is None else given)

    def of_text(self, text: Text, given: Item) -> Text:
        """Return what a text gives that is a template itself (`tpl`)."""
        if "{{" not in plain(text):
            return text
        if len(text) != 1 or self.depth >= _DEEPEST or not self.templates.takes(1):
            return (replace(text[0], text=HOLE),)
        try:
            nodes = _parsed(text[0], self.templates.defined)
        except _NotFollowedError:
            return (replace(text[0], text=HOLE),)
        return joined(_Rendering(self.templates, given, self.depth + 1).nodes(nodes, given))

    def _value(self, said: str, place: Piece, dot: Item, *, keeps: bool = False) -> Item | None:
        """Return the value of a pipeline; None for an assignment, which prints nothing, unless `keeps`."""
        try:
            tokens = _tokens(said)
            if len(tokens) > 2 and tokens[0].kind == "variable" and tokens[1].kind == "sets":
                value = _Pipeline(self, tokens[2:], place, dot).value()
                name = tokens[0].text
                scopes = [each for each in self.variables if name in each] if tokens[1].text == "=" else []
                (scopes or self.variables)[-1][name] = value
                return value if keeps else None
            return _Pipeline(self, tokens, place, dot).value()
        except _NotFollowedError:
            return UNKNOWN_ITEM

    def _gap(self, node: _Action) -> Iterator[Piece]:
        """Yield what stands for the text of an action that is not known; lines are indented as the first of them is."""
        inner = list(_within(node))
        for each in inner:
            if isinstance(each, _Action) and (sets := re.match(r"(\$\w+)\s*=[^=]", each.said)):
                self.variables[-1][sets[1]] = UNKNOWN_ITEM
        texts = [each.text.text for each in inner if isinstance(each, _Verbatim)]
        blanks = re.match(r"\n*(\n[ \t]*)", texts[0]) if texts else None
        one_word = not any(re.search(r"\s", each) for each in texts)
        yield replace(node.place, text=HOLE if one_word else f"{blanks[1] if blanks else ''}{GAP}")

    def variable(self, name: str) -> Item:
        """Return the value of a variable."""
        return next((each[name] for each in reversed(self.variables) if name in each), UNKNOWN_ITEM)


def _key(name: str, value: Item, place: Piece) -> Item:
    """Return the key of an entry where its value is written, which decides with it; of any other value, at a place."""
    text = value.text if isinstance(value, Scalar) else ()
    return Scalar(name, (standing_at(name, text[0]),)) if text else made(name, place)


def _within(node: _Action) -> Iterator[_Node]:
    """Yield all nodes within an action."""
    for _, body in node.branches:
        for each in body:
            yield each
            if isinstance(each, _Action):
                yield from _within(each)


class _Pipeline:
    """A pipeline that is being worked out."""

    def __init__(self, rendering: _Rendering, tokens: Sequence[_Token], place: Piece, dot: Item) -> None:
        self.rendering = rendering
        self.tokens = tokens
        self.place = place
        self.dot = dot
        self.at = 0

    def value(self) -> Item:
        """Return its value. Raises _NotFollowedError."""
        value = self._piped()
        if self.at < len(self.tokens):
            raise _NotFollowedError
        return value

    def _here(self, text: str = "") -> bool:
        return self.at < len(self.tokens) and (not text or self.tokens[self.at].text == text)

    def _piped(self) -> Item:
        value = self._command(None)
        while self._here("|"):
            self.at += 1
            value = self._command(value)
        return value

    def _command(self, piped: Item | None) -> Item:
        if not self._here():
            raise _NotFollowedError
        token = self.tokens[self.at]
        if token.kind == "word" and token.text not in ("true", "false", "nil"):
            self.at += 1
            return self._called(token.text, [*self._operands(), *([] if piped is None else [piped])])
        operands = self._operands()
        if piped is not None:
            raise _NotFollowedError
        # A method, such as `.Files.Get "name"`.
        if len(operands) == 2 and token.kind in ("field", "variable") and token.text.endswith(".Files.Get"):
            name = operands[1]
            text = self.rendering.templates.file(str(name.value)) if isinstance(name, Scalar) else None
            return UNKNOWN_ITEM if text is None else Scalar(plain(text), text)
        return operands[0] if len(operands) == 1 else UNKNOWN_ITEM

    def _operands(self) -> list[Item]:
        found: list[Item] = []
        while self._here() and self.tokens[self.at].text not in ("|", ")"):
            found.append(self._operand())
        return found

    def _operand(self) -> Item:
        token = self.tokens[self.at]
        self.at += 1
        value: Item
        match token.kind:
            case "text":
                try:
                    value = self._made(json.loads(token.text.replace("\n", "\\n")))
                except ValueError:
                    raise _NotFollowedError from None
            case "raw":
                value = self._made(token.text[1:-1])
            case "number":
                value = self._made(_number(token.text))
            case "dot":
                value = self.dot
            case "field":
                value = _field(self.dot, token.text[1:].split("."))
            case "variable":
                name, *fields = token.text.split(".")
                value = _field(self.rendering.variable(name), fields)
            case "word" if token.text in ("true", "false", "nil"):
                value = self._made({"true": True, "false": False, "nil": None}[token.text])
            case "word":
                value = self._called(token.text, [])
            case "mark" if token.text == "(":
                value = self._piped()
                if not self._here(")"):
                    raise _NotFollowedError
                self.at += 1
            case _:
                raise _NotFollowedError
        while self._here() and self.tokens[self.at].kind == "field" and self.tokens[self.at].close:
            value = _field(value, self.tokens[self.at].text[1:].split("."))
            self.at += 1
        return value

    def _made(self, value: str | int | float | bool | None) -> Scalar:
        return made(value, self.place)

    def _called(self, name: str, given: list[Item]) -> Item:
        if name in ("include", "tpl") and len(given) == 2:
            return self._rendered(name, *given)
        function = FUNCTIONS.get(name)
        if function is None:
            return UNKNOWN_ITEM
        try:
            found = function(self.place, *given)
            return found if is_small(found, _LARGEST) else UNKNOWN_ITEM
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError):
            return UNKNOWN_ITEM

    def _rendered(self, name: str, first: Item, second: Item) -> Item:
        if not isinstance(first, Scalar) or not isinstance(first.value, str):
            return UNKNOWN_ITEM
        if name == "tpl":
            text = self.rendering.of_text(first.text, second)
        else:
            text = joined(self.rendering.included(first.value, second, self.place))
        return Scalar(plain(text), text)


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise _NotFollowedError from None


def _field(value: Item, names: Sequence[str]) -> Item:
    """Return an entry; nothing where it is missing, as Helm has it. An entry of nothing is refused."""
    for name in names:
        if not isinstance(value, Mapping):
            return UNKNOWN_ITEM
        value = value.get(name, NOTHING)
    return value
