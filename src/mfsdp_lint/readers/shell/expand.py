"""Words of a script → what the shell makes of them on one way through it: `$X`, `${X%.*}`, `$((…))`, `{a,b}`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from tree_sitter import Node

from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import BREAK, Piece, Script, Text, known, option, plain, words
from mfsdp_lint.readers.shell.state import State, Variable

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


_EXPANSIONS = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion")
_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_NUMBER = re.compile(r"\$\(\((.*)\)\)", re.DOTALL)
_LIST = re.compile(r"\$(?:@|\{(?:@|\w+\[@\])\})")
"""An expansion that is several words within quotes as well."""

_DEEPEST = 40

Substitute = Callable[[Script, Node, State], Text | None]
"""Returns the output of a substitution's commands; None where that is not known."""


class Expander:
    """Expands words; `substitute` follows the commands in them."""

    def __init__(self, substitute: Substitute) -> None:
        self.substitute = substitute
        self.depth = 0

    def words(self, script: Script, nodes: list[Node], state: State) -> list[Text]:
        """Expand these nodes into words."""
        found: list[Text] = []
        for node in nodes:
            braced = _braced(script, node)
            found += words(_at_home(script, node, self.pieces(script, node, state))) if braced is None else braced
        return found

    def text(self, script: Script, node: Node, state: State) -> Text:
        """Expand a node that is not split, as behind `=`."""
        pieces = _at_home(script, node, self.pieces(script, node, state))
        return tuple(script.made(node, " ") if piece is BREAK else piece.splitting(False) for piece in pieces)

    def pieces(self, script: Script, node: Node, state: State) -> list[Piece | None]:
        """Expand one word into pieces; BREAK stands where it becomes several words."""
        if self.depth > _DEEPEST:
            return [self.hole(script, node)]
        self.depth += 1
        try:
            return list(self._pieces(script, node, state))
        finally:
            self.depth -= 1

    def hole(self, script: Script, node: Node, *, splits: bool = True, said: str = "") -> Piece:
        """Make a piece whose text is not known."""
        return script.made(node, HOLE, option=said).splitting(splits)

    def _pieces(self, script: Script, node: Node, state: State) -> Iterator[Piece | None]:
        match node.type:
            case (
                "word"
                | "number"
                | "variable_name"
                | "regex"
                | "extglob_pattern"
                | "special_variable_name"
                | "file_descriptor"
                | "test_operator"
                | "brace_expression"
            ):
                # An unknown part of a text that is read as a script may be several words.
                for piece in _literal(script, *script.bounds(node), _ESCAPED):
                    yield piece.splitting() if HOLE in piece.text else piece
            case "raw_string":
                start, end = script.bounds(node)
                yield from script.cut(start + 1, end - 1) or (script.made(node, ""),)
            case "ansi_c_string":
                yield _ansi(script, node)
            case "string" | "translated_string":
                yield from self._quoted(script, node, state)
            case "command_name":
                for child in node.children:
                    yield from self.pieces(script, child, state)
            case "concatenation":
                yield from self._between(script, node, state, _ESCAPED)
            case "simple_expansion":
                yield from self._variable(script, node, script.source(node).lstrip()[1:], state)
            case "expansion" if script.source(node).lstrip().startswith("${"):
                yield from self._braces(script, node, state)
            case "expansion":
                yield from self._variable(script, node, script.source(node).lstrip()[1:], state)
            case "command_substitution":
                found = self.substitute(script, node, state)
                if found is None:
                    yield self.hole(script, node)
                else:
                    yield from (piece.splitting() for piece in found)
            case "arithmetic_expansion":
                value, said = self.number(script.source(node).lstrip()[3:-2], state)
                yield self.hole(script, node) if value is None else script.made(node, str(value), option=said)
            case _:
                yield self.hole(script, node) if node.named_children else script.made(node, script.source(node))

    def _quoted(self, script: Script, node: Node, state: State) -> Iterator[Piece | None]:
        start, end = script.bounds(node)
        inner = [child for child in node.children if child.type in _EXPANSIONS]
        first = start + (2 if node.type == "translated_string" else 1)
        found = list(self.mixed(script, first, end - 1, inner, state, _ESCAPED_IN_QUOTES))
        yield from found
        if not found and "@" not in script.source(node):
            yield script.made(node, "")  # nothing is a word within quotes; a list of nothing is none

    def mixed(
        self, script: Script, start: int, end: int, inner: list[Node], state: State, escape: re.Pattern[str]
    ) -> Iterator[Piece | None]:
        """Yield the pieces of a text with expansions in it, none of which is split."""
        at = start
        for child in inner:
            begins, ends = _bounds(script, child)
            yield from _literal(script, at, begins, escape)
            is_list = _LIST.match(script.source(child).lstrip())
            for piece in self.pieces(script, child, state):
                yield piece if piece is BREAK or is_list else piece.splitting(False)
            at = ends
        yield from _literal(script, at, end, escape)

    def _between(self, script: Script, node: Node, state: State, escape: re.Pattern[str]) -> Iterator[Piece | None]:
        at, end = script.bounds(node)
        for child in node.children:
            begins, ends = _bounds(script, child)
            yield from _literal(script, at, begins, escape)
            yield from self.pieces(script, child, state)
            at = ends
        yield from _literal(script, at, end, escape)

    def _variable(self, script: Script, node: Node, name: str, state: State) -> Iterator[Piece | None]:
        """Expand `$NAME`, `$1`, `$@`."""
        in_quotes = _is_quoted(node)
        if name in ("@", "*"):
            # Nobody is known to give the script itself arguments.
            yield from _listed(
                list(state.arguments or ()), quoted=in_quotes, star=name == "*", script=script, node=node
            )
            return
        if name == "#":
            yield self._length(script, node, "@", None, state)
            return
        if name.isdigit():
            yield from self._value(script, node, name[0], state)
            yield from (script.made(node, name[1:]),) if name[1:] else ()  # `$11` is `${1}1`
            return
        yield from self._value(script, node, name, state)

    def _value(self, script: Script, node: Node, name: str, state: State) -> Iterator[Piece]:
        text = self._look_up(name, state)
        if text is not None:
            yield from (piece.splitting() for piece in text)
            return
        outside = name not in state.variables and not state.lost and name.isidentifier()
        yield self.hole(script, node, said=f"${name}" if outside else "")

    def _look_up(self, name: str, state: State) -> Text | None:
        """Look up the text of a parameter; return None where it is not known."""
        if name.isdigit() and name != "0":
            place = int(name) - 1
            if state.arguments is None:
                return None
            return state.arguments[place] if place < len(state.arguments) else ()
        variable = state.variables.get(name)
        if variable is None:
            return None
        return () if variable.unset else variable.text

    def _is_set(self, name: str, state: State, *, to_something: bool) -> bool | None:
        """Tell whether `${NAME:-…}` takes the variable; return None where that is not known."""
        if name in ("@", "*"):
            return bool(state.arguments)
        if name.isdigit():
            if state.arguments is None:
                return False  # nobody is known to give the script itself arguments
            text = self._look_up(name, state)
            given = int(name) <= len(state.arguments)
            return given and (not to_something or bool(plain(text or ())))
        variable = state.variables.get(name)
        if variable is None:
            return None if state.lost else False
        if variable.unset:
            return False
        if variable.words is None:
            return None
        text = variable.text
        if not to_something:
            return True
        if text and plain(text) and not plain(text).strip(HOLE):
            return None  # what is nothing but a hole may be nothing
        return bool(text and plain(text))

    def _braces(self, script: Script, node: Node, state: State) -> Iterator[Piece | None]:
        """Expand `${…}`."""
        source = script.source(node).lstrip()
        found = re.match(
            r"\$\{(?P<mark>[#!]?)(?P<name>\w+|[@*])(?:\[(?P<index>[^\]]*)\])?(?P<rest>.*)\}$", source, re.DOTALL
        )
        if found is None:
            yield self.hole(script, node)
            return
        mark, name, index, rest = found["mark"], found["name"], found["index"], found["rest"]
        if mark == "#":
            yield self._length(script, node, name, index, state)
        elif mark == "!":
            yield from (
                self._indirect(script, node, name, state) if not rest and index is None else [self.hole(script, node)]
            )
        elif not rest:
            yield from self._element(script, node, name, index, state)
        elif rest[0] in ":-=+?" and rest.lstrip(":")[:1] in ("-", "=", "+", "?"):
            yield from self._default(script, node, name, index, rest, state)
        else:
            yield from self._changed(script, node, name, index, rest, state)

    def _length(self, script: Script, node: Node, name: str, index: str | None, state: State) -> Piece:
        if name in ("@", "*"):
            return self.hole(script, node) if state.arguments is None else script.made(node, str(len(state.arguments)))
        variable = state.variables.get(name)
        if variable is None or variable.words is None:
            return self.hole(script, node)
        if index in ("@", "*"):
            return script.made(node, str(len(variable.words)))
        text = plain(variable.text or ())
        return self.hole(script, node) if HOLE in text else script.made(node, str(len(text)))

    def _indirect(self, script: Script, node: Node, name: str, state: State) -> Iterator[Piece]:
        named = plain(self._look_up(name, state) or (self.hole(script, node),))
        if HOLE in named or not named.isidentifier():
            yield self.hole(script, node)
        else:
            yield from self._value(script, node, named, state)

    def _element(
        self, script: Script, node: Node, name: str, index: str | None, state: State
    ) -> Iterator[Piece | None]:
        if name in ("@", "*"):
            yield from self._variable(script, node, name, state)
            return
        if index is None:
            yield from self._value(script, node, name, state)
            return
        variable = state.variables.get(name)
        words_there: Sequence[Text] | None = (
            [] if variable is not None and variable.unset else None if variable is None else variable.words
        )
        if words_there is not None and index in ("@", "*"):
            yield from _listed(list(words_there), quoted=_is_quoted(node), star=index == "*", script=script, node=node)
        elif words_there is not None and index.isdigit():
            found = words_there[int(index)] if int(index) < len(words_there) else ()
            yield from (piece.splitting() for piece in found)
        else:
            outside = variable is None and not state.lost and index in ("@", "*")
            yield self.hole(script, node, said=f"${name}" if outside else "")

    def _default(
        self, script: Script, node: Node, name: str, index: str | None, rest: str, state: State
    ) -> Iterator[Piece | None]:
        """Expand `${X:-d}` and its kin."""
        operator = rest[:2] if rest[0] == ":" else rest[0]
        is_set = self._is_set(name, state, to_something=operator[0] == ":")
        kind = operator[-1]
        start, end = _bounds(script, node)
        word_start = start + script.text[start:end].index(operator, 2 + len(name)) + len(operator)
        inner = [
            child for child in node.children if script.offset(child.start_byte) >= word_start and child.type != "}"
        ]
        from_outside = name not in state.variables and not state.lost
        if kind == "+":
            if is_set:
                yield from self._word_of(script, word_start, end - 1, inner, state)
            elif is_set is None:
                yield self.hole(script, node)
            return
        if is_set or kind == "?":
            yield from self._element(script, node, name, index, state)
            return
        if is_set is None:
            yield self.hole(script, node)
            return
        said = f"${name}" if from_outside or name.isdigit() else ""
        default = list(self._word_of(script, word_start, end - 1, inner, state))
        marked = [piece if piece is BREAK else replace(piece, option=piece.option or said) for piece in default]
        if kind == "=" and name.isidentifier():
            text = tuple(piece for piece in marked if piece is not None)
            old = state.variables.get(name)
            state.set(
                name, Variable((text,), exported=old.exported if old else False, written=text[0] if text else None)
            )
        yield from marked

    def _word_of(self, script: Script, start: int, end: int, inner: list[Node], state: State) -> Iterator[Piece | None]:
        """Expand the word of a default: its unquoted parts are split, as an expansion is."""
        number = _NUMBER.fullmatch(script.text, start, end)
        if number and not any(child.type == "arithmetic_expansion" for child in inner):
            # The grammar does not know arithmetic here.
            value, said = self.number(number[1], state)
            yield replace(
                script.cut(start, end)[0], text=HOLE if value is None else str(value), splits=True, option=said
            )
            return
        at = start
        for child in inner:
            begins, ends = _bounds(script, child)
            if begins < at:
                continue
            yield from (piece.splitting() for piece in _literal(script, at, begins, _ESCAPED))
            for piece in _at_home(script, child, self.pieces(script, child, state)):
                is_plain = child.type in ("word", "number", "regex", "variable_name", "concatenation")
                yield piece.splitting() if piece is not None and is_plain else piece
            at = ends
        yield from (piece.splitting() for piece in _literal(script, at, end, _ESCAPED))

    def _changed(
        self, script: Script, node: Node, name: str, index: str | None, rest: str, state: State
    ) -> Iterator[Piece | None]:
        """Expand `${X%.*}`, `${X//a/b}`, `${X,,}`: the result is known where the text and the pattern are known."""
        text = self._look_up(name, state) if index is None else None
        found = None if text is None or HOLE in plain(text) or "$" in rest else changed_text(plain(text), rest)
        if found is None or text is None:
            yield self.hole(script, node)
        else:
            yield script.made(node, found, option=option(text)).splitting()

    def number(self, source: str, state: State) -> tuple[int | None, str]:
        """Return an arithmetic expression's value, None if it is not known, and the environment variable behind it."""
        said: list[str] = []

        def value(name: str) -> str | None:
            text = self._look_up(name, state) or ()
            said.append(option(text))
            return known(text) or None

        return number_of(source, value), next(filter(None, said), "")


def _bounds(script: Script, node: Node) -> tuple[int, int]:
    """Return the start and end of an expansion; within quotes its node begins with the blanks in front of it."""
    start, end = script.bounds(node)
    if node.type in _EXPANSIONS:
        start = end - len(script.text[start:end].lstrip())
    return start, end


def _is_quoted(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("string", "heredoc_body")


def _listed(texts: list[Text], *, quoted: bool, star: bool, script: Script, node: Node) -> Iterator[Piece | None]:
    """Yield the pieces of a list: `"${A[@]}"` is a word for each element, `"${A[*]}"` one word with blanks between
    them, and without quotes all are split.
    """
    for number, text in enumerate(texts):
        if number:
            yield script.made(node, " ") if quoted and star else BREAK
        yield from (piece.splitting(not quoted) for piece in text)


def _literal(script: Script, start: int, end: int, escape: re.Pattern[str]) -> Iterator[Piece]:
    """Yield literal text without the backslashes that quote; at the end of a line they join it with the next one."""
    at = start
    for found in escape.finditer(script.text, start, end):
        yield from script.cut(at, found.start())
        at = found.end()
        if found[1] != "\n":
            yield from script.cut(found.start(1), at)
    yield from script.cut(at, end)


_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def _ansi(script: Script, node: Node) -> Piece:
    inner = script.source(node)[2:-1]
    escapes = re.findall(r"\\(.)", inner, re.DOTALL)
    if any(each not in _ANSI for each in escapes):
        return script.made(node, HOLE)
    return script.made(node, re.sub(r"\\(.)", lambda found: _ANSI[found[1]], inner, flags=re.DOTALL))


def _at_home(script: Script, node: Node, pieces: list[Piece | None]) -> list[Piece | None]:
    """Replace a leading `~` by a home folder that is not known."""
    first = pieces[0] if pieces else BREAK
    if first is BREAK or not re.match(r"~(?:/|$)", script.source(node)) or not first.text.startswith("~"):
        return pieces
    home = script.made(node, HOLE, option="$HOME")
    return [home, first.cut(1, len(first.text)), *pieces[1:]] if len(first.text) > 1 else [home, *pieces[1:]]


def _braced(script: Script, node: Node) -> list[Text] | None:
    """Return the words that braces make of one word; None where it has no braces."""
    if node.type not in ("word", "concatenation", "brace_expression"):
        return None
    source = script.source(node)
    plain_parts = [child for child in node.children or [node] if child.type in ("word", "number", "brace_expression")]
    marks = "".join(script.source(child) for child in plain_parts)
    if "{" not in marks or not ("," in marks or ".." in marks) or "\\" in marks:
        return None
    texts = braced_words(source) if len(plain_parts) == len(node.children or [node]) else None
    if texts is None:
        return [(script.made(node, HOLE).splitting(),)]
    return None if texts == [source] else [(script.made(node, text),) for text in texts]
