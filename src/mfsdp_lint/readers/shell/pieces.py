"""Text as a script makes it: pieces, each of which knows where it is written.

What is not known is the character HOLE within a text, so that everything around it stays known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.readers.given_words import HOLE

_CR_LF = re.compile(r"\r\n")
_RUN = re.compile(r"[ \t\n]+|[^ \t\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, and where in a file it is written: there the same text stands if it is as long.

    `splits`: it comes from an expansion without quotes, so that its blanks part words. `option` names the variable of
    the environment that it is, or follows from, the default of ("$TP"); of a HOLE, the variable that nobody has set.
    `stands` is what a HOLE is as a path seen from here: where the script itself lies, which is elsewhere when it runs.
    """

    text: str
    path: str
    lines: Lines
    start: int
    end: int
    splits: bool = False
    option: str = ""
    stands: str = ""

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self.lines.span(self.path, self.start, self.end)

    def cut(self, start: int, end: int) -> Piece:
        """A part of it."""
        if start == 0 and end == len(self.text):
            return self
        first, last = self.start, self.end
        if last - first == len(self.text):
            first, last = first + start, first + end
        return Piece(self.text[start:end], self.path, self.lines, first, last, self.splits, self.option, self.stands)

    def splitting(self, splits: bool = True) -> Piece:
        """The same, parted at its blanks or not."""
        if self.splits is splits:
            return self
        return Piece(self.text, self.path, self.lines, self.start, self.end, splits, self.option, self.stands)


Text = tuple[Piece, ...]


def of_file(path: str, text: str) -> Text:
    """The text of a file, whose lines may end with CR LF: a rule says so, and what they are meant to be is followed."""
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


BREAK = None
"""Between two pieces: here one word ends and the next begins, whatever the pieces say."""


def plain(text: Iterable[Piece]) -> str:
    """The text itself, holes included."""
    return "".join(piece.text for piece in text)


def known(text: Iterable[Piece]) -> str | None:
    """The text itself; None where a part of it is not known."""
    found = plain(text)
    return None if HOLE in found else found


def located(text: Iterable[Piece]) -> str | None:
    """A text as a path seen from here; None where a part of it is not known."""
    return known(replace(piece, text=piece.stands) if piece.stands else piece for piece in text)


def option(text: Iterable[Piece]) -> str:
    """The variable of the environment that decides a text, if one does."""
    return next((piece.option for piece in text if piece.option), "")


def around(text: Sequence[Piece]) -> Span:
    """Where a text is written; the file of its first piece counts."""
    first = text[0]
    here = [piece for piece in text if piece.path == first.path]
    return first.lines.span(first.path, min(piece.start for piece in here), max(piece.end for piece in here))


def words(pieces: Iterable[Piece | None]) -> Iterator[Text]:
    """The words that expanded pieces come to: blanks in what was not quoted part them."""
    word: list[Piece] = []
    for piece in pieces:
        if piece is BREAK:
            if word:
                yield tuple(word)
            word = []
        elif not piece.splits:
            word.append(piece)
        else:
            for part in _parts(piece):
                if part is BREAK:
                    if word:
                        yield tuple(word)
                    word = []
                else:
                    word.append(part)
    if word:
        yield tuple(word)


def _parts(piece: Piece) -> Iterator[Piece | None]:
    """What blanks leave of a piece, BREAK where they stand."""
    for found in _RUN.finditer(piece.text):
        yield BREAK if found[0][0] in " \t\n" else piece.cut(*found.span())


def sliced(text: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    """The pieces between two offsets of a text."""
    at = 0
    for piece in text:
        here, after = at, at + len(piece.text)
        if here < end and start < after:
            yield piece.cut(max(start - here, 0), min(end, after) - here)
        at = after


def output_of(lines: Iterable[Text]) -> Text:
    """What a program has written line by line, as a substitution gives it: without the newlines at its end."""
    text = tuple(piece for number, line in enumerate(lines) for piece in (*_line_end(number, line), *line))
    while text and (kept := text[-1].text.rstrip("\n")) != text[-1].text:
        text = (*text[:-1], text[-1].cut(0, len(kept))) if kept else text[:-1]
    return text


def _line_end(number: int, line: Text) -> Iterator[Piece]:
    if number and line:
        yield replace(line[0], text="\n", end=line[0].start)
