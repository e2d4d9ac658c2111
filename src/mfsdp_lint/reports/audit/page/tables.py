"""Tables of data that many recipes share, each once in the page: texts, places, origins and cells, by number."""

from __future__ import annotations

from collections.abc import Hashable

from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.snippet import Lines

NOTHING = -1
"""Instead of a number, where there is nothing."""

_LONGEST = 120
"""Characters of a value or a line that are worth showing."""


class Table:
    """Rows, each once, in the order of their first appearance."""

    def __init__(self) -> None:
        self.rows: dict[Hashable, int] = {}

    def number(self, row: Hashable) -> int:
        """Return the number of a row."""
        return self.rows.setdefault(row, len(self.rows))


class Tables:
    """All tables of one side. `lines` gives the lines of files, for the text at a place."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[int, tuple[Origin, int]] = {}
        self._shown: dict[str, int] = {}
        self.texts = Table()
        self.places = Table()
        self.origins = Table()
        self.cells = Table()

    def text(self, text: str) -> int:
        """Return the number of a text, escaped and clipped for display."""
        number = self._shown.get(text)
        if number is None:
            number = self._shown[text] = self.texts.number(clipped(printable(text))) if text else NOTHING
        return number

    def whole(self, text: str) -> int:
        """Return the number of a text in its whole length."""
        return self.texts.number(printable(text)) if text else NOTHING

    def place(self, span: Span, function: str = "", release: str | None = None) -> int:
        """Return the number of a place: file, line, function, upstream's release, and the code there."""
        lines = () if release else self._lines(span.path)
        code = lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""
        return self.places.number(
            (self.text(span.path), span.line, self.text(function), self.text(release or ""), self.text(code))
        )

    def origin(self, origin: Origin) -> int:
        """Number an origin: kind, place, sources (the nearest first), earlier write, option that may change it."""
        known = self._known.get(id(origin))
        if known is not None:
            return known[1]
        number = NOTHING
        for each in origin.chain():
            row = (
                self.text(each.how),
                self.place(each.point, each.function, each.upstream),
                tuple(self._source(source) for source in each.sources),
                number,
                self.text(each.option),
            )
            number = self.origins.number(row)
            # Recipes share origins. They are kept, so that their ids stay their own.
            self._known[id(each)] = (each, number)
        return number

    def _source(self, source: Source) -> int:
        return self.place(source.span, source.function)


def clipped(text: str) -> str:
    """Cut a long text to its beginning."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
