"""Templates of Go with the functions of Sprig and Helm, as far as charts of training runs use them.

Facts: text/template of Go 1.24 (the grammar, what is true, `{{-` and `-}}`), Sprig 3.3, and Helm 3.18
(pkg/engine/engine.go and funcs.go: `include`, `tpl`, `required`, `toYaml`). Every piece of what a template gives knows
where it is written: in the template, or in the file of values. What is not followed is not known: within a line it is a
HOLE; where it may be lines of its own, such as the body of a condition that cannot be decided, GAP stands for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import reduce

from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, plain

GAP = "\uf8fe"
"""Stands for lines that are not known; a character for private use, as HOLE is."""

_DEEPEST = 24
"""Templates within templates."""

_LONGEST = 100_000
"""Characters of a text."""

_LARGEST = 20_000
"""Parts of a value."""

_MOST = 2_000
"""Rounds of all loops, and templates within templates, of one that is filled in."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, a number, a truth value or nothing, and its text at its place.

    A number from a file is not `exact`: some releases of Helm take it for a float, and print a large one as 1e+06.
    """

    value: str | int | float | bool | None
    text: Text = ()
    exact: bool = False


class _Unknown:
    """A value that is not known."""


UNKNOWN_ITEM = _Unknown()
Item = Scalar | Mapping[str, "Item"] | Sequence["Item"] | _Unknown
"""A value of a template."""

_NOTHING = Scalar(None)


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

_DELIMITED = re.compile(
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
    for found in (*_DELIMITED.finditer(source.text), None):
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


_TOKEN = re.compile(
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
    left: int = _MOST

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
        self.left = _MOST
        return _joined(_Rendering(self, root).nodes(nodes, root))

    def takes(self, rounds: int) -> bool:
        """Tell whether so many more rounds are allowed, and count them."""
        self.left -= rounds
        return self.left >= 0


def _joined(pieces: Iterator[Piece]) -> Text:
    return tuple(piece for piece in pieces if piece.text)


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
                given = self._value(rest, node.place, dot) if rest else _NOTHING
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
            value = _numbers(node.place, value)
        entries: list[tuple[Item, Item]]
        if isinstance(value, Sized) and not self.templates.takes(len(value)):
            yield from self._gap(node)
            return
        if isinstance(value, Mapping):
            entries = [(made(name, node.place), value[name]) for name in sorted(value)]
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
        inner = _Rendering(self.templates, _NOTHING if given is None else given, self.depth + 1)
        yield from inner.nodes(nodes, _NOTHING if given is None else given)

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
        return _joined(_Rendering(self.templates, given, self.depth + 1).nodes(nodes, given))

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
        function = _FUNCTIONS.get(name)
        if function is None:
            return UNKNOWN_ITEM
        try:
            found = function(self.place, *given)
            return found if _is_small(found, _LARGEST) else UNKNOWN_ITEM
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError):
            return UNKNOWN_ITEM

    def _rendered(self, name: str, first: Item, second: Item) -> Item:
        if not isinstance(first, Scalar) or not isinstance(first.value, str):
            return UNKNOWN_ITEM
        if name == "tpl":
            text = self.rendering.of_text(first.text, second)
        else:
            text = _joined(self.rendering.included(first.value, second, self.place))
        return Scalar(plain(text), text)


def _is_small(value: Item, limit: int) -> bool:
    """Tell whether a value has at most so many parts, and characters in each text."""
    waiting: list[Item] = [value]
    while waiting and limit > 0:
        limit -= 1
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, Sequence):
            waiting += each
        elif isinstance(each, Scalar) and isinstance(each.value, str) and len(each.value) > _LONGEST:
            return False
    return not waiting


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
        value = value.get(name, _NOTHING)
    return value


def truth(value: Item | None) -> bool | None:
    """Tell whether a condition holds; None where that is not known."""
    if value is None or isinstance(value, _Unknown):
        return None
    if isinstance(value, Scalar):
        # A text of which a part is not known is not empty, unless all of it may be.
        return (
            None
            if isinstance(value.value, str) and value.value and not value.value.strip(HOLE + GAP)
            else bool(value.value)
        )
    return bool(value)


def made(value: str | int | float | bool | None, place: Piece) -> Scalar:
    """Return a value that stands at a place with another text."""
    return Scalar(value, (_at(_spelled(value), place),), exact=True)


def _at(text: str, place: Piece) -> Piece:
    end = place.end + (place.end - place.start == len(text))
    return Piece(text, place.path, place.lines, place.start, end)


def _spelled(value: str | int | float | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


_LARGE = 10**6
"""Floats from here on are printed with an exponent."""


def printed(value: Item, place: Piece) -> Text:
    """Return what an action prints for a value."""
    if isinstance(value, Scalar):
        if isinstance(value.value, str):
            return value.text
        large = isinstance(value.value, (int, float)) and abs(value.value) >= _LARGE and not value.exact
        return (_at(HOLE, place),) if large else _respelled(value, place)
    return (_at(HOLE, place),)


def _respelled(value: Scalar, place: Piece) -> Text:
    """Return the text of a value that is no text; `yes` in a file is `true`."""
    said = _spelled(value.value)
    if plain(value.text) == said:
        return value.text
    return (_at(said, value.text[0] if value.text else place),) if said else ()


# -- the functions -------------------------------------------------------------------------------------------------

Function = Callable[..., Item]
"""A function of templates, as it is called: the place, and the arguments."""

_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[A-Za-z_/][\w./-]*", re.IGNORECASE)


def to_yaml(value: Item, place: Piece, indent: int = 0) -> Iterator[Piece]:
    """Yield a value as YAML, in lines that are indented behind the first one."""
    blanks = " " * indent
    if isinstance(value, Mapping) and value:
        for number, name in enumerate(sorted(value)):
            inner = value[name]
            nested = isinstance(inner, (Mapping, list, tuple)) and bool(inner)
            deeper = indent + 2 if isinstance(inner, Mapping) else indent
            key = name if _PLAIN.fullmatch(name) else json.dumps(name)
            yield _at(
                f"{f'{chr(10)}{blanks}' if number else ''}{key}:{f'{chr(10)}{chr(32) * deeper}' if nested else ' '}",
                place,
            )
            yield from to_yaml(inner, place, deeper if nested else indent)
    elif isinstance(value, Mapping):
        yield _at("{}", place)
    elif isinstance(value, Scalar):
        yield from _scalar_as_yaml(value, place, indent)
    elif isinstance(value, _Unknown):
        yield _at(HOLE, place)
    elif not value:
        yield _at("[]", place)
    else:
        for number, each in enumerate(value):
            yield _at(f"{f'{chr(10)}{blanks}' if number else ''}- ", place)
            yield from to_yaml(each, place, indent + 2)


def _scalar_as_yaml(value: Scalar, place: Piece, indent: int) -> Iterator[Piece]:
    if value.value is None:
        yield _at("null", place)
    elif not isinstance(value.value, str):
        yield from _respelled(value, place)
    elif "\n" in value.value:
        blanks = " " * (indent + 2)
        kept = "+" if value.value.endswith("\n\n") else "" if value.value.endswith("\n") else "-"
        yield _at(f"|{kept}\n{blanks}", place)
        yield from indented(_without_newline(value.text), blanks)
    elif _PLAIN.fullmatch(value.value):
        yield from value.text
    elif "'" not in value.value:
        yield from (_at("'", place), *value.text, _at("'", place))
    else:
        yield _at(json.dumps(value.value, ensure_ascii=False), value.text[0] if value.text else place)


def _without_newline(text: Text) -> Text:
    if text and text[-1].text.endswith("\n"):
        last = text[-1]
        return _joined(iter((*text[:-1], last.cut(0, len(last.text) - 1))))
    return text


def indented(text: Text, blanks: str) -> Iterator[Piece]:
    """Yield a text with blanks behind every newline."""
    for piece in text:
        start = 0
        for found in re.finditer("\n", piece.text):
            yield piece.cut(start, found.end())
            yield _at(blanks, piece.cut(found.start(), found.end()))
            start = found.end()
        if start < len(piece.text):
            yield piece.cut(start, len(piece.text))


def _text(value: Item, place: Piece) -> Text:
    return printed(value, place)


def _made_of(text: Text) -> Scalar:
    return Scalar(plain(text), text)


def _said(value: Item, place: Piece) -> str:
    """Return the known text of a value. Raises ValueError."""
    said = plain(_text(value, place))
    if HOLE in said or GAP in said:
        raise ValueError
    return said


def _small(value: Item, place: Piece) -> int:
    """Return a small number. Raises ValueError."""
    number = int(_said(value, place))
    if not 0 <= number <= _MOST:
        raise ValueError
    return number


def _numbers(place: Piece, value: Item) -> Item:
    """Return the numbers below another one."""
    try:
        return [made(number, place) for number in range(_small(value, place))]
    except ValueError:
        return UNKNOWN_ITEM


def _default(place: Piece, other: Item, value: Item = _NOTHING) -> Item:
    holds = truth(value)
    return UNKNOWN_ITEM if holds is None and isinstance(value, _Unknown) else value if holds is not False else other


def _coalesce(place: Piece, *given: Item) -> Item:
    for each in given:
        holds = truth(each)
        if holds is not False:
            return UNKNOWN_ITEM if holds is None else each
    return _NOTHING


def _quoted(mark: str) -> Function:
    def quote(place: Piece, *given: Item) -> Item:
        found: list[Piece] = []
        for each in given:
            if isinstance(each, Scalar) and each.value is None:
                continue
            text = _text(each, place)
            if mark == '"' and re.search(r'["\\\n]', plain(text)):
                text = (_at(json.dumps(plain(text), ensure_ascii=False)[1:-1], text[0]),)
            found += [*([_at(" ", place)] if found else []), _at(mark, place), *text, _at(mark, place)]
        return _made_of(tuple(found))

    return quote


def _indent(first: str) -> Function:
    def indent(place: Piece, width: Item, value: Item) -> Item:
        blanks = " " * _small(width, place)
        if isinstance(value, _Unknown):
            return _made_of((_at(f"{first}{blanks}{GAP}", place),))
        text = _text(value, place)
        return _made_of(_joined(iter((_at(first + blanks, place), *indented(text, blanks)))))

    return indent


def _to_yaml(place: Piece, value: Item) -> Item:
    if isinstance(value, _Unknown):
        return value
    return _made_of(_joined(to_yaml(value, place)))


def _as_plain(value: Item) -> object:
    """Return a value as Python has it. Raises ValueError."""
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Mapping):
        return {name: _as_plain(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_as_plain(each) for each in value]
    raise ValueError


def _to_json(place: Piece, value: Item) -> Item:
    said = json.dumps(_as_plain(value), separators=(",", ":"), sort_keys=True)
    return made(said, place)


def _trimmed(place: Piece, value: Item) -> Item:
    text = _text(value, place)
    while text and not text[0].text.strip():
        text = text[1:]
    while text and not text[-1].text.strip():
        text = text[:-1]
    if text:
        text = (text[0].cut(len(text[0].text) - len(text[0].text.lstrip()), len(text[0].text)), *text[1:])
        text = (*text[:-1], text[-1].cut(0, len(text[-1].text.rstrip())))
    return _made_of(text)


def _of_text(change: Callable[..., str]) -> Function:
    """Return the function that changes its last argument, a text, by the others."""

    def function(place: Piece, *given: Item) -> Item:
        *others, value = given
        said = _said(value, place)
        changed = change(said, *(_said(each, place) for each in others))
        return _made_of(_text(value, place)) if changed == said else made(changed, place)

    return function


def _replaced(said: str, old: str, new: str) -> str:
    if len(said) * len(new) > _LONGEST:
        raise ValueError
    return said.replace(old, new)


def _trunc(said: str, width: str) -> str:
    return said[: int(width)] if int(width) >= 0 else said[int(width) :]


def _printf(place: Piece, format: Item, *given: Item) -> Item:
    found: list[Piece] = []
    values = iter(given)
    said = _said(format, place)
    at = 0
    for each in re.finditer(r"%(?P<verb>%|[-+#0 ]*\d*(?:\.\d+)?[a-zA-Z])", said):
        found.append(_at(said[at : each.start()], place))
        at = each.end()
        if each["verb"] == "%":
            found.append(_at("%", place))
        elif each["verb"] in ("s", "v", "d"):
            found += _text(next(values, UNKNOWN_ITEM), place)
        elif each["verb"] == "q":
            found += _text(_quoted('"')(place, next(values, UNKNOWN_ITEM)), place)
        else:
            next(values, None)
            found.append(_at(HOLE, place))
    return _made_of(_joined(iter((*found, _at(said[at:], place)))))


def _print(place: Piece, *given: Item) -> Item:
    if sum(not (isinstance(each, Scalar) and isinstance(each.value, str)) for each in given) > 1:
        return UNKNOWN_ITEM  # blanks between those that are no texts
    return _made_of(tuple(piece for each in given for piece in _text(each, place)))


def _join(place: Piece, mark: Item, values: Item) -> Item:
    if not isinstance(values, (list, tuple)):
        return values if isinstance(values, Scalar) else UNKNOWN_ITEM
    between = _said(mark, place)
    found: list[Piece] = []
    for number, each in enumerate(values):
        found += [*([_at(between, place)] if number else []), *_text(each, place)]
    return _made_of(_joined(iter(found)))


def _compared(place: Piece, first: Item, second: Item, how: Callable[[object, object], bool]) -> Item:
    one, other = _as_plain(first), _as_plain(second)
    if any(isinstance(each, str) and (HOLE in each or GAP in each) for each in (one, other)):
        return UNKNOWN_ITEM
    numbers = [isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, other)]
    if type(one) is not type(other) and not all(numbers):
        return made(False, place) if None in (one, other) else UNKNOWN_ITEM
    return made(how(one, other), place)


def _eq(place: Piece, first: Item, *others: Item) -> Item:
    found = [_compared(place, first, each, lambda one, other: one == other) for each in others]
    return next((each for each in found if truth(each) is not False), found[-1])


def _ordered(how: Callable[[float, float], bool]) -> Function:
    return lambda place, first, second: _compared(place, first, second, how)  # type: ignore[arg-type]  # numbers


def _not(place: Piece, value: Item) -> Item:
    holds = truth(value)
    return UNKNOWN_ITEM if holds is None else made(not holds, place)


def _and(place: Piece, *given: Item) -> Item:
    for each in given:
        holds = truth(each)
        if holds is not True:
            others = [truth(other) for other in given]
            return made(False, place) if False in others else UNKNOWN_ITEM if holds is None else each
    return given[-1]


def _or(place: Piece, *given: Item) -> Item:
    for each in given:
        holds = truth(each)
        if holds is not False:
            return UNKNOWN_ITEM if holds is None else each
    return given[-1]


def _ternary(place: Piece, yes: Item, no: Item, condition: Item) -> Item:
    holds = truth(condition)
    return UNKNOWN_ITEM if holds is None else yes if holds else no


def _required(place: Piece, message: Item, value: Item = _NOTHING) -> Item:
    # Without it the chart is not installed: whoever installs it gives some value.
    return UNKNOWN_ITEM if truth(value) is False and not (isinstance(value, Scalar) and value.value is False) else value


def _int(place: Piece, value: Item) -> Item:
    number = int(float(_as_plain(value)))  # type: ignore[arg-type]  # which raises TypeError
    text = value.text if isinstance(value, Scalar) else ()
    return Scalar(number, text if plain(text) == str(number) else (_at(str(number), place),), exact=True)


def _computed(how: Callable[[int, int], int]) -> Function:
    def function(place: Piece, *given: Item) -> Item:
        return made(reduce(how, (int(float(str(_as_plain(each)))) for each in given)), place)

    return function


def _dict(place: Piece, *given: Item) -> Item:
    return {_said(name, place): value for name, value in zip(given[::2], given[1::2], strict=True)}


def _merged(place: Piece, *given: Item) -> Item:
    """Merge mappings: the first that has an entry counts."""
    found: Item = given[-1]
    for each in reversed(given[:-1]):
        if not isinstance(each, Mapping) or not isinstance(found, Mapping):
            return UNKNOWN_ITEM
        found = merged(found, each)
    return found


def merged(below: Mapping[str, Item], above: Mapping[str, Item]) -> Mapping[str, Item]:
    """Merge mappings key by key; the second one's entries count."""
    found = dict(below)
    for name, value in above.items():
        old = found.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        found[name] = merged(old, value) if both else value  # type: ignore[arg-type]  # both are
    return found


def _index(place: Piece, value: Item, *keys: Item) -> Item:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(_said(key, place), _NOTHING)
        elif isinstance(value, Sequence):
            value = value[int(_said(key, place))]
        else:
            return UNKNOWN_ITEM
    return value


def _has_key(place: Piece, value: Item, key: Item) -> Item:
    return made(_said(key, place) in value, place) if isinstance(value, Mapping) else UNKNOWN_ITEM


def _keys(place: Piece, value: Item) -> Item:
    return [made(name, place) for name in sorted(value)] if isinstance(value, Mapping) else UNKNOWN_ITEM


def _items(value: Item) -> list[Item]:
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return list(value)


def _kind(value: Item) -> str:
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, Scalar):
        kinds = {str: "string", bool: "bool", type(None): "invalid", float: "float64", int: "float64"}
        return kinds[type(value.value)]
    if isinstance(value, _Unknown):
        raise ValueError
    return "slice"


_FUNCTIONS: Mapping[str, Function] = {
    "default": _default,
    "coalesce": _coalesce,
    "quote": _quoted('"'),
    "squote": _quoted("'"),
    "indent": _indent(""),
    "nindent": _indent("\n"),
    "toYaml": _to_yaml,
    "toJson": _to_json,
    "trim": _trimmed,
    "trimSuffix": _of_text(lambda said, end: said.removesuffix(end)),
    "trimPrefix": _of_text(lambda said, start: said.removeprefix(start)),
    "trunc": _of_text(_trunc),
    "upper": _of_text(str.upper),
    "lower": _of_text(str.lower),
    "replace": _of_text(_replaced),
    "toString": lambda place, value: _made_of(_text(value, place)),
    "print": _print,
    "printf": _printf,
    "join": _join,
    "list": lambda place, *given: list(given),
    "tuple": lambda place, *given: list(given),
    "concat": lambda place, *given: [each for values in given for each in _items(values)],
    "append": lambda place, values, value: [*_items(values), value],
    "first": lambda place, values: _items(values)[0],
    "last": lambda place, values: _items(values)[-1],
    "dict": _dict,
    "merge": _merged,
    "mergeOverwrite": lambda place, *given: _merged(place, *reversed(given)),
    "get": _index,
    "index": _index,
    "hasKey": _has_key,
    "keys": _keys,
    "len": lambda place, value: made(len(value), place) if not isinstance(value, (Scalar, _Unknown)) else UNKNOWN_ITEM,
    "eq": _eq,
    "ne": lambda place, first, second: _not(place, _eq(place, first, second)),
    "lt": _ordered(lambda one, other: one < other),
    "le": _ordered(lambda one, other: one <= other),
    "gt": _ordered(lambda one, other: one > other),
    "ge": _ordered(lambda one, other: one >= other),
    "not": _not,
    "and": _and,
    "or": _or,
    "empty": lambda place, value=_NOTHING: _not(place, value),
    "ternary": _ternary,
    "required": _required,
    "int": _int,
    "int64": _int,
    "add": _computed(lambda one, other: one + other),
    "sub": _computed(lambda one, other: one - other),
    "mul": _computed(lambda one, other: one * other),
    "div": _computed(lambda one, other: int(one / other)),
    "until": _numbers,
    "contains": lambda place, part, said: made(_said(part, place) in _said(said, place), place),
    "hasPrefix": lambda place, part, said: made(_said(said, place).startswith(_said(part, place)), place),
    "hasSuffix": lambda place, part, said: made(_said(said, place).endswith(_said(part, place)), place),
    "kindIs": lambda place, kind, value: made(_kind(value) == _said(kind, place), place),
    "kindOf": lambda place, value: made(_kind(value), place),
    "fail": lambda place, message: UNKNOWN_ITEM,
}
