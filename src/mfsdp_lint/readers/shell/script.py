"""A script: pieces of text, each of which knows where it is written, and their syntax tree.

The text is that of a file, or one that a script has made (`eval`, `bash -c`, a heredoc). What is not known is the
character HOLE within a text, so that everything around it stays known.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate

from tree_sitter import Language, Node, Parser

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Obstacle, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.given_words import HOLE

_CR_LF = lazy_pattern(r"\r\n")
_RUN = lazy_pattern(r"[ \t\n]+|[^ \t\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, and where in a file it is written: there the same text stands if it is as long.

    `splits`: it comes from an expansion without quotes, so that its blanks part words. `option` names the variable of
    the environment that it is, or follows from, the default of ("$TP"); of a HOLE, the variable that nobody has set.
    `stands` is what a HOLE is as a path seen from here: where the script itself lies, which is elsewhere when it runs.
    A HOLE that `is_word` has no blanks (a number), so that nothing parts it.
    """

    text: str
    path: str
    lines: Lines
    start: int
    end: int
    splits: bool = False
    option: str = ""
    stands: str = ""
    is_word: bool = False

    @property
    def span(self) -> Span:
        """Return the place where the piece is written."""
        return self.lines.span(self.path, self.start, self.end)

    def cut(self, start: int, end: int) -> Piece:
        """Return a part of the piece."""
        if start == 0 and end == len(self.text):
            return self
        first, last = self.start, self.end
        if last - first == len(self.text):
            first, last = first + start, first + end
        rest = (self.splits, self.option, self.stands, self.is_word)
        return Piece(self.text[start:end], self.path, self.lines, first, last, *rest)

    def splitting(self, splits: bool = True) -> Piece:
        """Copy the piece as one that is, or is not, split at its blanks."""
        splits = splits and not self.is_word
        if self.splits is splits:
            return self
        rest = (splits, self.option, self.stands, self.is_word)
        return Piece(self.text, self.path, self.lines, self.start, self.end, *rest)


Text = tuple[Piece, ...]


def of_file(path: str, text: str) -> Text:
    """Return the text of a file. CR LF becomes a newline, as the author means it; a rule reports such line ends."""
    lines = Lines(text)
    pieces: list[Piece] = []
    start = 0
    for found in _CR_LF.finditer(text):
        pieces += (
            Piece(text[start : found.start()], path, lines, start, found.start()),
            Piece("\n", path, lines, *found.span()),
        )
        start = found.end()
    return (*pieces, Piece(text[start:], path, lines, start, len(text)))


@cache
def _runs_between(separators: str) -> re.Pattern[str]:
    signs = re.escape(separators)
    return re.compile(f"[{signs}]+|[^{signs}]+" if signs else r"[\s\S]+")


BREAK = None
"""Between two pieces: here one word ends and the next begins, whatever the pieces say."""


def plain(text: Iterable[Piece]) -> str:
    """Return the text itself, holes included."""
    return "".join(piece.text for piece in text)


def known(text: Iterable[Piece]) -> str | None:
    """Return the text itself; None where a part of it is not known."""
    found = plain(text)
    return None if HOLE in found else found


def located(text: Iterable[Piece]) -> str | None:
    """Return a text as a path seen from here; None where a part of it is not known."""
    return known(replace(piece, text=piece.stands) if piece.stands else piece for piece in text)


def name_of_file(text: Iterable[Piece]) -> str:
    """Return a text as the name of a file: each HOLE with what is put in there, which tells it from others."""
    return "".join(_put_in(_source(each)) if HOLE in each.text else _of_process(each.text) for each in text)


def _put_in(said: str) -> str:
    return f"{HOLE}{said}{HOLE}"


def _of_process(text: str) -> str:
    # (The grammar takes `$$` for plain text where output goes to.)
    return text.replace("$$", _put_in("$$"))


def _source(piece: Piece) -> str:
    said = piece.option or piece.lines.text[piece.start : piece.end].replace("{", "").replace("}", "")
    # (What commands print may differ from place to place.)
    return f"{said}@{piece.start}" if said.startswith(("$(", "`")) else said


def shape_of_name(name: str) -> str:
    """Return the name of a file without what is put in."""
    return _PUT_IN.sub(HOLE, name)


def option(text: Iterable[Piece]) -> str:
    """Return the environment variable that decides a text; "" if none does."""
    return next((piece.option for piece in text if piece.option), "")


def is_argument(text: Text) -> bool:
    """Tell whether a text is arguments of the script ("$1"), which whoever starts it may give."""
    return all(piece.option[1:].isdigit() for piece in text)


def is_left_out(text: Text) -> bool:
    """Tell whether a text is variables that nobody has set, which are nothing."""
    return all(piece.option and not piece.option[1:].isdigit() for piece in text)


_PUT_IN = lazy_pattern(rf"{HOLE}[^{HOLE}]*{HOLE}")
EXPANSIONS = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion")
_BLANKS = lazy_pattern(r"(?:\s|\\\r?\n)+")
_OPENS = ("$", "`", "<", "{", "@")


def obstacle_in(text: Iterable[Piece]) -> Obstacle | None:
    """Return the reason why a text is not known: a variable that nothing followed sets, a command whose output is not
    known, or a placeholder.

    An argument of the script is no obstacle: the caller gives it.
    """
    for piece in text:
        if HOLE in piece.text:
            if piece.option[1:].isdigit():
                continue
            if piece.option:
                return Obstacle(piece.option, piece.span, given=True)
            said = piece.lines.text[piece.start : piece.end].strip().strip('"')
            if said.startswith(_OPENS):
                return Obstacle(said.partition("\n")[0], piece.span)
    return None


def around(text: Sequence[Piece]) -> Span:
    """Return the place where a text is written; the file of its first piece counts that is more than dashes."""
    first = next((piece for piece in text if piece.text.strip("-")), text[0])
    here = [piece for piece in text if piece.path == first.path]
    return first.lines.span(first.path, min(piece.start for piece in here), max(piece.end for piece in here))


def words(pieces: Iterable[Piece | None], separators: str = " \t\n") -> Iterator[Text]:
    """Yield the words of expanded pieces: blanks in unquoted parts, or other `separators`, part them."""
    word: list[Piece] = []
    runs = _RUN if separators == " \t\n" else _runs_between(separators)
    for piece in pieces:
        if piece is BREAK:
            if word:
                yield tuple(word)
            word = []
        elif not piece.splits:
            word.append(piece)
        else:
            for found in runs.finditer(piece.text):
                if found[0][0] not in separators:
                    word.append(piece.cut(*found.span()))
                elif word:
                    yield tuple(word)
                    word = []
    if word:
        yield tuple(word)


def sliced(text: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    """Yield the pieces between two offsets of a text."""
    at = 0
    for piece in text:
        here, after = at, at + len(piece.text)
        if here < end and start < after:
            yield piece.cut(max(start - here, 0), min(end, after) - here)
        at = after


def between(word: Text, start: int, end: int) -> Text:
    """Return the part of a word between two offsets; it is never without a piece, for its place."""
    return tuple(sliced(word, start, end)) or (word[-1],)


def behind(word: Text, start: int) -> Text:
    """Return the part of a word from an offset on; it is never without a piece, for its place."""
    return tuple(sliced(word, start, sys.maxsize)) or (word[-1].cut(len(word[-1].text), len(word[-1].text)),)


Fill = Callable[["re.Match[str]", Piece], "Iterable[Piece] | None"]
"""Makes pieces of a match and the piece that it is in; None where that stays as it is."""


def filled(text: Iterable[Piece], pattern: re.Pattern[str], fill: Fill) -> Text:
    """Return a text with other pieces in place of the matches of a pattern."""
    found: list[Piece] = []
    for piece in text:
        at = 0
        for match in pattern.finditer(piece.text):
            if (inside := fill(match, piece)) is not None:
                found += (piece.cut(at, match.start()), *inside)
                at = match.end()
        found.append(piece.cut(at, len(piece.text)))
    return tuple(each for each in found if each.text)


def holed(match: re.Match[str], piece: Piece, *, option: str = "") -> tuple[Piece, ...]:
    """Return a HOLE at the place of a match (see `filled`)."""
    return (replace(piece.cut(*match.span()), text=HOLE, option=option or piece.option),)


def standing_at(text: str, place: Piece) -> Piece:
    """Return a text that stands for what is written at a place; one as long as that is told from it by its end."""
    end = place.end + (place.end - place.start == len(text))
    return Piece(text, place.path, place.lines, place.start, end)


def output_of(parts: Sequence[Text | None] | None) -> Text | None:
    """Join what programs have printed; None where a part of it is not known."""
    return (
        None if parts is None or None in parts else tuple(piece for text in parts if text is not None for piece in text)
    )


def substituted(text: Text) -> Text:
    """Return an output as `$(…)` gives it: without the newlines at the end."""
    while text and (kept := text[-1].text.rstrip("\n")) != text[-1].text:
        text = (*text[:-1], text[-1].cut(0, len(kept))) if kept else text[:-1]
    return text


_PART = lazy_pattern(r"\s+|[^\s=:,'\"]+|[=:,'\"]")


def placed(text: str, sources: Iterable[Text], otherwise: Callable[[str], Piece]) -> Text:
    """Return a text that was made of others: each part at its place in them, else at the place of the only one."""
    whole = tuple(piece for source in sources for piece in source)
    said, folded = plain(whole), plain(whole).lower()
    found: list[Piece] = []
    at = 0
    for match in _PART.finditer(text):
        part = match[0]
        place = -1 if part.isspace() else said.find(part, at)
        place = place if place >= 0 or part.isspace() else said.find(part)
        name = part.lstrip("-")
        if place < 0 and name != part and (named := _named(name, said, at)):
            found += (_instead(next(sliced(whole, *named.span())), part),)
            at = named.end()
        elif place >= 0:
            found += sliced(whole, place, place + len(part))
            at = place + len(part)
        elif (place := -1 if part.isspace() else folded.find(part.lower())) >= 0:
            found.append(_instead(next(sliced(whole, place, place + len(part))), part))
        elif part.isspace() or not said.strip() or len(said.split()) > 1:
            found.append(
                replace(found[-1], text=part, start=found[-1].end) if found and part.isspace() else otherwise(part)
            )
        else:
            found.append(_instead(whole[0], part))
    return tuple(found)


def _named(name: str, said: str, at: int) -> re.Match[str] | None:
    """Find the name that a flag is made of, behind a place if it is there."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return pattern.search(said, at) or pattern.search(said) if name else None


def _instead(piece: Piece, text: str) -> Piece:
    """Return another text at the place of a piece."""
    # A piece as long as the written text would be taken for it.
    return replace(piece, text=text, end=piece.end + (piece.end - piece.start == len(text)))


@cache
def _parser() -> Parser:
    import tree_sitter_bash

    return Parser(Language(tree_sitter_bash.language()))


class Script:
    """A text with its tree. Offsets are in characters; the nodes' own are in bytes."""

    def __init__(self, pieces: Text, readable: Callable[[str], str] = str) -> None:
        self.pieces = pieces
        self.text = plain(pieces)
        self._starts = [0, *accumulate(len(piece.text) for piece in pieces)]
        parsed = readable(_without_documents(self.text))
        data = _NEEDS_BRACES.sub(r"${\1}", parsed).encode("utf-8", "replace")
        self._offsets = None if len(data) == len(self.text) else _offsets(parsed)
        self.root: Node = _parser().parse(data).root_node

    @classmethod
    def of_file(cls, path: str, text: str) -> Script:
        """Make the script of a file's text."""
        return cls(of_file(path, text))

    @classmethod
    def of_document(cls, text: Text) -> Script:
        """Make a script of one string, of the text of a here-document, in which the grammar overlooks expansions."""
        quote = replace(text[0], text='"')
        return cls((quote, *text, quote), lambda said: f'"{_without_quotes(said[1:-1])}"')

    def offset(self, byte: int) -> int:
        """Convert an offset in bytes to one in characters."""
        return byte if self._offsets is None else self._offsets[byte]

    def offset_of(self, place: int) -> int:
        """Convert an offset of the file to an offset of this script."""
        number = max(bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1, 0)
        return self._starts[number] + place - self.pieces[number].start

    def bounds(self, node: Node) -> tuple[int, int]:
        """Return the start and end of a node, without the blanks that an expansion's begins with within quotes."""
        start, end = self.offset(node.start_byte), self.offset(node.end_byte)
        if node.type in EXPANSIONS and (blanks := _BLANKS.match(self.text, start, end)):
            start = blanks.end()
        return start, end

    def node_at(self, start: int, end: int) -> Node | None:
        """Return the smallest node around the text between two offsets."""
        if self._offsets is None:
            return self.root.descendant_for_byte_range(start, end)
        return self.root.descendant_for_byte_range(bisect_left(self._offsets, start), bisect_left(self._offsets, end))

    def nodes(self) -> Iterator[Node]:
        """Yield every node of the tree, in the order of the text."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def source(self, node: Node) -> str:
        """Return the text of a node."""
        start, end = self.bounds(node)
        return self.text[start:end]

    def cut(self, start: int, end: int) -> Text:
        """Return the pieces between two offsets."""
        if start >= end:
            return ()
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end, first)
        return tuple(sliced(self.pieces[first:last], start - self._starts[first], end - self._starts[first]))

    def span(self, node: Node) -> Span:
        """Return the place of a node in its file."""
        pieces: Sequence[Piece] = self.cut(*self.bounds(node)) or self.pieces
        # A value that was filled in, in a script that another one wrote, stands in front of the text.
        return around([each for each in pieces if each.start >= pieces[0].start])

    def made(self, node: Node, text: str, *, option: str = "") -> Piece:
        """Make a piece with another text, at a node's place."""
        pieces: Sequence[Piece] = self.cut(*self.bounds(node)) or self.pieces
        first = pieces[0]
        end = max(piece.end for piece in pieces if piece.path == first.path)
        # A piece as long as the written text would be taken for it.
        return Piece(text, first.path, first.lines, first.start, max(end, first.start), option=option)


_DOCUMENT = lazy_pattern(r"(?<!<)<<-?[ \t]*(?:'(?P<raw>[^'\n]+)'|\"(?P<quoted>[^\"\n]+)\"|\\?(?P<plain>[A-Za-z_]\w*))")
_BEFORE_COMMAND = lazy_pattern(r"(?:[^\\\"'#]|\\.|\"(?:[^\\\"]|\\.)*\"|'[^']*'|(?<=\S)#)*")


def _without_documents(text: str) -> str:
    """Return a text of the same length whose here-documents are plain: in some the grammar loses its way."""
    if "<<" not in text:
        return text
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    places: dict[str, list[int]] = {}
    for line, place in zip(lines, starts, strict=False):
        places.setdefault(line.lstrip("\t"), []).append(place)
    parts: list[str] = []
    done = at = 0
    while found := _DOCUMENT.search(text, at):
        number = bisect_right(starts, found.start()) - 1
        first = starts[number + 1]
        delimiter = found["raw"] or found["quoted"] or found["plain"]
        ends = places.get(delimiter, [])
        nearest = bisect_left(ends, first)
        at = found.end()
        if nearest < len(ends):
            at = first
            if _BEFORE_COMMAND.fullmatch(text, starts[number], found.start()):
                parts += text[done:first], _plain_lines(text[first : ends[nearest]], delimiter)
                done = at = ends[nearest]
    return "".join([*parts, text[done:]])


def _plain_lines(document: str, delimiter: str) -> str:
    """Hide signs, and delimiters that begin a longer line: for the grammar such a line is the document's end."""
    other = "y" if delimiter.startswith("x") else "x"
    longer = re.compile(rf"^([ \t]*){re.escape(delimiter[0])}(?={re.escape(delimiter[1:])})", re.MULTILINE | re.ASCII)
    return re.sub(r"[\\$`'\"]", "x", longer.sub(rf"\1{other}", document) if delimiter.isascii() else document)


_NESTING = lazy_pattern(r"\\.|\$[({]|[`\"'()}]", re.DOTALL)


def _without_quotes(text: str) -> str:
    """Return a text of the same length without the double quotes that stand outside of its expansions."""
    found = list(text)
    ends: list[str] = []
    at = 0
    while match := _NESTING.search(text, at):
        mark, inner, at = match[0], ends[-1] if ends else "", match.end()
        if mark == inner:
            ends.pop()
        elif mark in ("$(", "${"):
            ends.append(")" if mark == "$(" else "}")
        elif mark == "`" or (mark == "(" and inner == ")") or (mark == '"' and inner not in ("", '"')):
            ends.append(")" if mark == "(" else mark)
        elif mark == '"':
            found[match.start()] = "'"
        elif mark == "'" and inner in (")", "`"):
            at = text.find("'", at) + 1 or len(text)
    return "".join(found)


_NEEDS_BRACES = lazy_pattern(r"(?<!\\)\$(?:(?<=[\w}/.+@%,:~-]\$)(?=\w+[-./+@%,~])|(?=_\w))([A-Za-z_]\w*)")
"""The grammar takes the second expansion of `$A/$B.x`, and that of `${A:-$_b}`, for words; with braces it does not."""


_LONGER = lazy_pattern(r"[^\x00-\x7f]")


def _offsets(text: str) -> list[int]:
    """Return, for every byte of the parsed UTF-8 text, the character of the text that it belongs to; then the end."""
    further = Counter(at for found in _NEEDS_BRACES.finditer(text) for at in (found.start(1), found.end()))
    for found in _LONGER.finditer(text):
        further[found.start()] += len(found[0].encode("utf-8", "replace")) - 1
    offsets: list[int] = []
    done = 0
    for at in sorted(further):
        offsets += range(done, at)
        offsets += [at] * further[at]
        done = at
    offsets += range(done, len(text) + 1)
    return offsets


def shown(script: Script, node: Node) -> str:
    """Show a node in one line, for a person."""
    return " ".join(script.source(node).split())[:80]


_SIMPLE = ("command", "declaration_command", "variable_assignment", "redirected_statement", "pipeline", "list")
"""A comment at the first or the last line of these is about all of their lines; within them there can be none."""

_COVERED = (*_SIMPLE, "function_definition")


def shell_comments(text: str) -> list[CommentPlace]:
    """Find every comment; at the end of a line it covers that line, alone on a line also the command on the next one.

    At the line that begins a function it covers the function.
    """
    script = Script.of_file("", text)
    lines = Lines(text)
    found: list[tuple[int, str]] = []
    whole: dict[int, tuple[int, int]] = {}
    for node in script.nodes():
        if node.type != "comment" and node.type not in _COVERED:
            continue
        pieces = script.cut(*script.bounds(node))
        if not pieces:  # what the parser only supposes to be there
            continue
        if node.type == "comment":
            found.append((pieces[0].start, script.source(node)))
            continue
        first, last = lines.position(pieces[0].start)[0], lines.position(pieces[-1].end - 1)[0]
        if first < last:
            # The outer statement comes first, and counts.
            whole.setdefault(first, (first, last))
            if node.type in _SIMPLE:
                whole.setdefault(last, (first, last))
    return comment_places(text, found, whole)


_OPTION = lazy_pattern(r"--?[A-Za-z][\w-]*")
WRAPPING = ("redirected_statement", "pipeline", "list", "negated_command")
"""Statements that begin with the command in them."""


def words_cut_off(script: Script, node: Node) -> list[Text]:
    """Return the words on the lines of options right behind a command, which the command does not get."""
    found: list[Text] = []
    behind = _next(whole_statement(node))
    while behind is not None and behind.type == "command" and begins_with_option(script, behind):
        found += [script.cut(*script.bounds(child)) for child in behind.named_children]
        behind = _next(behind)
    return found


def begins_with_option(script: Script, node: Node) -> bool:
    """Tell whether a line begins with an option where a command could stand."""
    return bool(node.children) and bool(_OPTION.fullmatch(script.source(node.children[0])))


def whole_statement(node: Node) -> Node:
    """Return the statement that a command begins."""
    while node.parent is not None and node.parent.type in WRAPPING and node.parent.children[0] == node:
        node = node.parent
    return node


def _next(node: Node) -> Node | None:
    behind = node.next_named_sibling
    while behind is not None and behind.type == "comment":
        behind = behind.next_named_sibling
    return behind
