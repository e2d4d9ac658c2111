"""For people: the line with a mark under it, its consequence, the other places involved, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mfsdp_lint.core.finding import Edit, Finding, Severity
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.snippet import Lines, Row, changes, fits_one_line, lines_of, snippet
from mfsdp_lint.reports.summary import Summary, summary_line
from mfsdp_lint.reports.wording import printable, remarks, shorten

_COLORS: dict[Severity, str] = {"error": "1;31", "warning": "1;33", "info": "1;36"}
MOST_LINES = 12
"""Of a finding: nobody reads a longer one. `explain` has the reasons."""

_MOST_NOTES, _BRIEFEST = 2, 3

_BOLD, _GUTTER, _HELP = "1", "1;34", "1;32"


def render(findings: Sequence[Finding], summary: Summary, texts: Texts, *, color: bool = False) -> str:
    """Render every finding that is not suppressed, and the line of summary."""
    lines = lines_of(texts)
    seen: list[Finding] = []
    shown = []
    for finding in findings:
        if finding.suppressed is None:
            shown.append("\n".join(_Page(lines, color, finding, texts, _same_change(finding, seen)).fitting()))
            seen.append(finding)
    return "\n\n".join([*shown, summary_line(summary)]) + "\n"


class _Page:
    """A finding as it is shown; `gutter` is as wide as its largest line number.

    `shown` is a finding above whose fix makes all the changes that this one needs.
    """

    def __init__(self, lines: Lines, color: bool, finding: Finding, texts: Texts, shown: Finding | None) -> None:
        self.lines = lines
        self.shown = shown
        self.brief = 0
        self.color = color
        self.finding = finding
        several = finding.fix is not None and shown is None and not fits_one_line(finding.fix)
        self.changes = list(changes(finding.fix, texts)) if finding.fix and several else []
        spans = [finding.span, *(note.span for note in finding.related)]
        numbers = [number for _, rows in self.changes for number, _ in rows]
        self.gutter = max(map(len, (*(str(span.end_line) for span in spans), *numbers)))

    def fitting(self) -> list[str]:
        """Fit the finding into MOST_LINES: drop the other places' text, then all but the first, then the diff."""
        rows: list[str] = []
        for self.brief in range(_BRIEFEST + 1):
            rows = list(self.rows())
            if len(rows) <= MOST_LINES:
                break
        return rows

    def rows(self) -> Iterable[str]:
        finding = self.finding
        severity = self.paint(f"{finding.severity}[{finding.code}]", _COLORS[finding.severity])
        yield f"{severity}{self.paint(': ' + printable(finding.message), _BOLD)}"
        yield from self.place(finding.span, "^", _COLORS[finding.severity])
        for remark in remarks(finding, verdict=True):
            yield f"{' ' * self.gutter} {self.paint('=', _GUTTER)} {printable(remark)}"
        yield from self.notes()
        if finding.recipes:
            yield f"{self.paint('recipes', _BOLD)}: {shorten(finding.recipes)}"
        yield from self.help()

    def notes(self) -> Iterable[str]:
        """Yield the other places: with their text, on a line each, or only the first ones."""
        related = self.finding.related
        shown = related if self.brief < 2 else related[:_MOST_NOTES]
        for note in shown:
            head = f"{self.paint('note', _BOLD)}: {printable(note.message)}"
            if self.brief:
                yield f"{head} ({printable(note.span.path)}:{note.span.line})"
            else:
                yield head
                yield from self.place(note.span, "-", _GUTTER)
        if len(shown) < len(related):
            yield f"{self.paint('note', _BOLD)}: and {len(related) - len(shown)} more (--output-format json)"

    def help(self) -> Iterable[str]:
        """Yield the remedy: in a sentence, or as a small diff if it takes several lines."""
        finding = self.finding
        if finding.fixable is None:
            return
        head = self.paint("help", _HELP)
        flags = "--fix" if finding.fixable == "safe" else "--fix --unsafe-fixes"
        if finding.fix is None:
            can = "can" if finding.fix_proved else "may"
            yield f"{head}: {flags} {can} repair this ({finding.fixable} fix)"
        elif self.shown is not None:
            there = f"{self.shown.code} at {printable(self.shown.span.path)}:{self.shown.span.line}"
            yield f"{head}: what is changed for {there} removes this as well ({finding.fixable} fix: {flags})"
        elif fits_one_line(finding.fix):
            yield f"{head}: {_describe(finding.fix.edits[0])} ({finding.fixable} fix: {flags})"
        else:
            diff = "; --diff shows them" if self.brief == _BRIEFEST else ""
            yield f"{head}: change these lines ({finding.fixable} fix: {flags}{diff})"
            if diff:
                return
            for place, rows in self.changes:
                yield f"{' ' * self.gutter}{self.paint('-->', _GUTTER)} {printable(place)}"
                yield from (self.beside(row) for row in rows)

    def place(self, span: Span, mark: str, style: str) -> Iterable[str]:
        where = f"{printable(span.path)}:{span.line}:{span.column}"
        yield f"{' ' * self.gutter}{self.paint('-->', _GUTTER)} {where}"
        rows = snippet(span, self.lines(span.path), mark)
        if rows:
            yield self.beside(("", ""))
        for row in rows:
            number, content = row
            yield self.beside((number, content if number else self.paint(content, style)))

    def beside(self, row: Row) -> str:
        number, content = row
        return f"{self.paint(number.rjust(self.gutter) + ' |', _GUTTER)} {content}".rstrip()

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text


def _same_change(finding: Finding, seen: Sequence[Finding]) -> Finding | None:
    """Find the finding above whose fix has all edits of this one's."""
    if finding.fix is None or not finding.fix.together:
        return None
    edits = set(finding.fix.edits)
    return next((each for each in seen if each.fix and edits <= set(each.fix.edits)), None)


def _describe(edit: Edit) -> str:
    """Describe an edit: `write "fsdp_dtensor" at recipes/llama.py:14`."""
    place = f"{printable(edit.span.path)}:{edit.span.line}"
    text = edit.text.strip()
    return f"write `{printable(text)}` at {place}" if text else f"remove what stands at {place}"
