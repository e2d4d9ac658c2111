"""Text as a script makes it: pieces, each of which knows where it is written.

What is not known is the character HOLE within a text, so that everything around it stays known.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Obstacle, Span
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
        """Return the place where the piece is written."""
        return self.lines.span(self.path, self.start, self.end)

    def cut(self, start: int, end: int) -> Piece:
        """Return a part of the piece."""
        if start == 0 and end == len(self.text):
            return self
        first, last = self.start, self.end
        if last - first == len(self.text):
            first, last = first + start, first + end
        return Piece(self.text[start:end], self.path, self.lines, first, last, self.splits, self.option, self.stands)

    def splitting(self, splits: bool = True) -> Piece:
        """Copy the piece as one that is, or is not, split at its blanks."""
        if self.splits is splits:
            return self
        return Piece(self.text, self.path, self.lines, self.start, self.end, splits, self.option, self.stands)


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


def option(text: Iterable[Piece]) -> str:
    """Return the environment variable that decides a text; "" if none does."""
    return next((piece.option for piece in text if piece.option), "")


_SUBSTITUTION = ("$(", "`", "<(")


def obstacle_in(text: Iterable[Piece]) -> Obstacle | None:
    """Return the reason why a text is not known: a variable that nobody sets, or a command whose output is not known.

    An argument of the script is no obstacle: the caller gives it.
    """
    for piece in text:
        if HOLE in piece.text:
            if piece.option:
                return Obstacle(piece.option, piece.span, given=True)
            said = piece.lines.text[piece.start : piece.end].strip().strip('"')
            if said.startswith(_SUBSTITUTION):
                return Obstacle(said.partition("\n")[0], piece.span)
    return None


def around(text: Sequence[Piece]) -> Span:
    """Return the place where a text is written; the file of its first piece counts."""
    first = text[0]
    here = [piece for piece in text if piece.path == first.path]
    return first.lines.span(first.path, min(piece.start for piece in here), max(piece.end for piece in here))


def words(pieces: Iterable[Piece | None]) -> Iterator[Text]:
    """Yield the words of expanded pieces: blanks in unquoted parts separate them."""
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
    """Yield the parts of a piece between blanks, and BREAK in place of the blanks."""
    for found in _RUN.finditer(piece.text):
        yield BREAK if found[0][0] in " \t\n" else piece.cut(*found.span())


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


def output_of(lines: Iterable[Text]) -> Text:
    """Join the lines that a program has written, as a substitution does: without the newlines at the end."""
    text = tuple(piece for number, line in enumerate(lines) for piece in (*_line_end(number, line), *line))
    while text and (kept := text[-1].text.rstrip("\n")) != text[-1].text:
        text = (*text[:-1], text[-1].cut(0, len(kept))) if kept else text[:-1]
    return text


def _line_end(number: int, line: Text) -> Iterator[Piece]:
    if number and line:
        yield replace(line[0], text="\n", end=line[0].start)
