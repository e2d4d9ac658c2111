"""A script and its syntax tree: the text of a file, or one that a script has made (`eval`, `bash -c`, a heredoc)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate

from tree_sitter import Language, Node, Parser

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.shell.pieces import Piece, Text, around, of_file, plain, sliced


@cache
def _parser() -> Parser:
    import tree_sitter_bash

    return Parser(Language(tree_sitter_bash.language()))


class Script:
    """A text with its tree. Offsets are in characters; the nodes' own are in bytes."""

    def __init__(self, pieces: Text) -> None:
        self.pieces = pieces
        self.text = plain(pieces)
        self._starts = [0, *accumulate(len(piece.text) for piece in pieces)]
        parsed = _WITHIN_A_WORD.sub(r"${\1}", self.text)
        data = parsed.encode("utf-8", "replace")
        self._offsets = None if len(data) == len(self.text) else list(_offsets(self.text))
        self.root: Node = _parser().parse(data).root_node

    @classmethod
    def of_file(cls, path: str, text: str) -> Script:
        """Make the script of a file's text."""
        return cls(of_file(path, text))

    def offset(self, byte: int) -> int:
        """Convert an offset in bytes to one in characters."""
        return byte if self._offsets is None else self._offsets[byte]

    def offset_of(self, place: int) -> int:
        """Convert an offset of the file to an offset of this script."""
        number = max(bisect_right(self.pieces, place, key=lambda piece: piece.start) - 1, 0)
        return self._starts[number] + place - self.pieces[number].start

    def bounds(self, node: Node) -> tuple[int, int]:
        """Return the start and end of a node."""
        return self.offset(node.start_byte), self.offset(node.end_byte)

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
        return around(self.cut(*self.bounds(node)) or self.pieces)

    def made(self, node: Node, text: str, *, option: str = "") -> Piece:
        """Make a piece with another text, at a node's place."""
        pieces: Sequence[Piece] = self.cut(*self.bounds(node)) or self.pieces
        first = pieces[0]
        end = max(piece.end for piece in pieces if piece.path == first.path)
        # A piece as long as the written text would be taken for it.
        return Piece(text, first.path, first.lines, first.start, max(end, first.start), option=option)


_WITHIN_A_WORD = re.compile(r"(?<=[\w}/.+@%,:~-])\$([A-Za-z_]\w*)(?=[-./+@%,~])")
"""The grammar takes the second expansion of `$A/$B.x` for the sign and a word of its own; with braces it does not."""


def _offsets(text: str) -> Iterator[int]:
    """Yield, for every byte of the parsed UTF-8 text, the character of the text that it belongs to; then the end."""
    braces = Counter(at for found in _WITHIN_A_WORD.finditer(text) for at in (found.start(1), found.end()))
    for number, character in enumerate(text):
        for _ in range(braces[number] + len(character.encode("utf-8", "replace"))):
            yield number
    yield len(text)


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
