"""Findings for people: a line each, one under its source line, recipe by recipe, or counted by rule."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from mfsdp_lint.core.finding import HELD_BACK, SEVERITIES, Applied, Finding, Fix, Safety, Severity
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.summary import RecipeState, Summary, summary_line
from mfsdp_lint.reports.wording import COLOR, aligned, clipped, count, folded, printable, remarks, shorten, width

# -- a line each ---------------------------------------------------------------------------------------------------


def concise(findings: Sequence[Finding], summary: Summary) -> str:
    """Render every finding that is not suppressed on a line, for editors and grep, and the line of summary."""
    return finding_lines(findings) + summary_line(summary) + "\n"


def finding_lines(findings: Sequence[Finding]) -> str:
    """Render the findings alone."""
    return "".join(
        f"{printable(each.span.path)}:{each.span.line}:{each.span.column}: {each.severity} {each.code} "
        f"{printable(each.message)}{f' [{each.confirmation.verdict}]' if each.confirmation else ''}\n"
        for each in findings
        if each.suppressed is None
    )


def statistics(findings: Sequence[Finding], summary: Summary) -> str:
    """Render a line a rule and severity, the most frequent first, and the summary line; no suppressed findings."""
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.suppressed is None:
            groups[finding.code, finding.severity, finding.name].append(finding)
    rows = []
    for (code, severity, name), found in sorted(
        groups.items(), key=lambda each: (-len(each[1]), SEVERITIES.index(each[1][0].severity), each[0])
    ):
        number = sum(each.fixable is not None for each in found)
        at_most = "" if all(each.fix_proved for each in found) else "up to "
        rows.append((str(len(found)), severity, code, name + (f" ({at_most}{number} fixable)" if number else "")))
    return "\n".join([*aligned(rows, right=(0,)), summary_line(summary)]) + "\n"


def fix_lines(fixes: Sequence[Applied], *, done: bool = True) -> str:
    """Describe each fix: `recipes/llama.py:14: fixed MFSDP101 (safe): checkpoint.ckpt_format = "fsdp_dtensor"`.

    Findings that one change removes share a line.
    """
    verb = "fixed" if done else "would fix"
    codes: dict[tuple[Span, Safety, tuple[str, ...]], list[str]] = defaultdict(list)
    for each in fixes:
        codes[each.span, each.safety, each.changes].append(each.code)
    return "".join(
        f"{printable(span.path)}:{span.line}: {verb} {', '.join(dict.fromkeys(found))} ({safety}): "
        f"{printable(', '.join(changes))}\n"
        for (span, safety, changes), found in codes.items()
    )


def recipe_blocks(recipes: Sequence[RecipeState], summary: Summary, *, brief: bool) -> str:
    """Render a block for each recipe, or one line if `brief`, the number of ready ones, and the summary line.

    A line is `recipes/llama.py:14: llama3_8b: MFSDP101, MFSDP301; first checkpoint.ckpt_format = "fsdp_dtensor"`.
    """
    lines = []
    for recipe in recipes:
        place = f"{printable(recipe.path)}:{recipe.line}: {printable(recipe.name)}"
        if recipe.ready:
            lines.append(f"{place}: ready")
        elif brief:
            codes = ", ".join(dict.fromkeys(each.code for each in recipe.pressing))
            lines.append(f"{place}: {codes}; first {_first_changes(recipe)}")
        else:
            found = [f"  {each.severity} {each.code} {printable(each.message)}" for each in recipe.pressing]
            lines += [place, *found, f"  must change first: {_first_changes(recipe)}"]
    lines += [] if brief else [""]
    ready = sum(recipe.ready for recipe in recipes)
    return "\n".join([*lines, f"{ready} of {count(len(recipes), 'recipe')} ready", summary_line(summary)]) + "\n"


def _first_changes(recipe: RecipeState) -> str:
    """List the changes for the most severe findings; if no fix is known, the setting that a person has to change."""
    pressing = [each for each in recipe.pressing if each.severity == recipe.pressing[0].severity]
    changes = (printable(change) for each in pressing for change in each.changes)
    unknown = (f"{each.setting or 'what is written'} by hand ({each.code})" for each in pressing if not each.changes)
    return ", ".join(dict.fromkeys((*unknown, *changes)))


# -- under its source line -----------------------------------------------------------------------------------------

MOST_LINES = 12
"""Of a finding: nobody reads a longer one. `explain` has the reasons."""

_MOST_NOTES, _BRIEFEST = 2, 3

_COLORS: dict[Severity, str] = {"error": "1;31", "warning": "1;33", "info": "1;36"}
_BOLD, _GUTTER, _HELP = "1", "1;34", "1;32"


def full(
    findings: Sequence[Finding],
    summary: Summary,
    texts: Texts,
    *,
    color: bool = False,
    columns: int = 0,
    infos: bool = True,
    brief: bool = False,
) -> str:
    """Render every finding that is not suppressed, the most severe first, and the line of summary.

    A finding is its source line with a mark under it, the consequence, the other places involved, and the remedy. Text
    is broken between words where the terminal has so many `columns`. Without `infos` they are only counted; a `brief`
    report has no line of summary.
    """
    lines = lines_of(texts)
    seen: list[Finding] = []
    pages = []
    told = [each for each in findings if each.suppressed is None and (infos or each.severity != "info")]
    for finding in sorted(told, key=lambda each: SEVERITIES.index(each.severity)):
        above = None
        if finding.fix and finding.fix.together:
            edits = set(finding.fix.edits)
            above = next((each for each in seen if each.fix and edits <= set(each.fix.edits)), None)
        pages.append("\n".join(_Page(lines, color, finding, texts, above, columns).fitting()))
        seen.append(finding)
    if summary.infos and not infos:
        number = f"{summary.infos} info" if summary.infos == 1 else f"{summary.infos} infos"
        pages.append(f"{number}: --show-info")
    if not brief:
        pages.append("\n".join(folded(summary_line(summary), columns)))
    return "\n\n".join(pages) + "\n" if pages else ""


class _Page:
    """A finding as it is shown; `gutter` is as wide as its largest line number.

    `above` is an earlier finding whose fix makes all the changes that this one needs.
    """

    def __init__(
        self, lines: Lines, color: bool, finding: Finding, texts: Texts, above: Finding | None, columns: int
    ) -> None:
        self.lines = lines
        self.columns = columns
        self.above = above
        self.brief = 0
        self.color = color
        self.finding = finding
        fix = finding.fix
        self.one_line = fix is not None and len(fix.edits) == 1 and len(fix.edits[0].text.strip().splitlines()) <= 1
        self.changes = list(changes(fix, texts)) if fix and above is None and not self.one_line else []
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
        if not self.columns:
            return rows
        return [part for row in rows for part in self.folded(row)]

    def folded(self, row: str) -> list[str]:
        """Break a row of text where the terminal ends; source lines are cut where they are shown."""
        plain = COLOR.sub("", row)
        if _BESIDE.match(plain):
            return [row]
        mark = re.match(r" *(?:=|-->) ", plain)
        return folded(row, self.columns, " " * (len(mark[0]) if mark else 2))

    def rows(self) -> Iterator[str]:
        finding = self.finding
        severity = self.paint(f"{finding.severity}[{printable(finding.code)}]", _COLORS[finding.severity])
        yield f"{severity}{self.paint(': ' + printable(finding.message), _BOLD)}"
        yield from self.place(finding.span, "^", _COLORS[finding.severity])
        for remark in remarks(finding, verdict=True):
            yield f"{' ' * self.gutter} {self.paint('=', _GUTTER)} {printable(remark)}"
        related = finding.related
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
        if finding.recipes:
            yield f"{self.paint('recipes', _BOLD)}: {shorten(finding.recipes)}"
        if finding.fixable is not None:
            yield from self.help()
        elif finding.no_fix.startswith(HELD_BACK):
            yield f"{self.paint('help', _HELP)}: the fix is {printable(finding.no_fix)}"

    def help(self) -> Iterator[str]:
        """Yield the remedy: in a sentence, or as a small diff if it takes several lines."""
        finding, fix = self.finding, self.finding.fix
        head = self.paint("help", _HELP)
        flags = "--fix" if finding.fixable == "safe" else "--fix --unsafe-fixes"
        if fix is None:
            if finding.fix_proved:
                yield f"{head}: {flags} can repair this ({finding.fixable} fix)"
            else:
                yield f"{head}: possible {finding.fixable} fix, not proved here: {flags}"
        elif self.above is not None:
            there = f"{self.above.code} at {printable(self.above.span.path)}:{self.above.span.line}"
            yield f"{head}: what is changed for {there} removes this as well ({finding.fixable} fix: {flags})"
        elif self.one_line:
            (edit,) = fix.edits
            text = edit.text.strip()
            does = f"write `{printable(text)}`" if text else f"remove {self.removed(edit.span)}"
            where = f"{printable(edit.span.path)}:{edit.span.line}"
            yield f"{head}: {does} at {where} ({finding.fixable} fix: {flags})"
        else:
            diff = "; --diff shows them" if self.brief == _BRIEFEST else ""
            yield f"{head}: change these lines ({finding.fixable} fix: {flags}{diff})"
            for place, rows in () if diff else self.changes:
                yield f"{' ' * self.gutter}{self.paint('-->', _GUTTER)} {printable(place)}"
                yield from (self.beside(*row) for row in rows)

    def removed(self, span: Span) -> str:
        """Return the text of a span in one line as code; of one in several lines, or without text, a word for it."""
        last = span.end_line - (span.end_column == 1 and span.end_line > span.line)
        lines = self.lines(span.path)
        if last > span.line or span.line > len(lines):
            return "the text"
        end = span.end_column - 1 if span.end_line == span.line else None
        return f"`{clipped(printable(lines[span.line - 1][span.column - 1 : end].strip()), _LONGEST)}`"

    def place(self, span: Span, mark: str, style: str) -> Iterator[str]:
        where = f"{printable(span.path)}:{span.line}:{span.column}"
        yield f"{' ' * self.gutter}{self.paint('-->', _GUTTER)} {where}"
        room = min(_LONGEST, self.columns - self.gutter - 5) if self.columns else _LONGEST
        rows = snippet(span, self.lines(span.path), mark, max(room, _SHORTEST))
        for number, content in [("", ""), *rows] if rows else ():
            yield self.beside(number, content if number else self.paint(content, style))

    def beside(self, number: str, content: str) -> str:
        if self.columns and content[:2] in ("- ", "+ "):
            content = _clip(content, max(self.columns - self.gutter - 4, _SHORTEST))
        return f"{self.paint(number.rjust(self.gutter) + ' |', _GUTTER)} {content}".rstrip()

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text


# -- source lines, as compilers show them --------------------------------------------------------------------------

Lines = Callable[[str], "list[str]"]
"""The lines of a file, without their ends; empty where the file is not at hand."""

Row = tuple[str, str]
"""The text in the gutter (a line number, `...` or nothing), and the text beside it."""

_TAB = "    "
_LONGEST = 160
"""Characters of one line that are worth showing; of a longer line, the part around the mark."""

_SHORTEST = 20
"""Characters that are shown however narrow the terminal is."""

_BESIDE = lazy_pattern(r" *(?:\d+|\.\.\.)? \|")

_BELOW = 5
"""Rows shown below the first line of a span; of a longer span, the first and the last ones."""


def lines_of(texts: Texts) -> Lines:
    """Split every text once."""

    @cache
    def lines(path: str) -> list[str]:
        return [line.rstrip("\r\n") for line in split_lines(texts(path) or "")]

    return lines


def snippet(span: Span, lines: list[str], mark: str = "^", longest: int = _LONGEST) -> list[Row]:
    """Return the rows that show a span, with a mark under it; none if its lines are not available.

    Of a line with more than `longest` characters the part around the mark is shown.
    """
    if not 1 <= span.line <= len(lines):
        return []
    # A span that ends before the first character of a line does not reach that line.
    end_line = min(span.end_line - (span.end_column <= 1), len(lines))
    if end_line <= span.line:
        line, first = lines[span.line - 1], span.column - 1
        end = span.end_column - 1 if span.end_line == span.line else len(line)
        begin = max(first - longest // 4, 0) if len(line) > longest else 0
        cut_off = "…" if begin else ""
        before = _columns(cut_off + line[begin:first])
        under = _columns(line[first : min(end, begin + longest)])
        return [(str(span.line), cut_off + _clip(line[begin:], longest)), ("", " " * before + mark * max(under, 1))]
    opening, last = lines[span.line - 1], lines[end_line - 1]
    last_column = span.end_column - 2 if span.end_line == end_line else len(last) - 1
    rows = [
        (str(span.line), "  " + _clip(opening, longest)),
        ("", " " + "_" * (_columns(opening[: min(span.column - 1, longest)]) + 1) + mark),
    ]
    between = range(span.line + 1, end_line + 1)
    below = [(str(number), f"| {_clip(lines[number - 1], longest)}".rstrip()) for number in between]
    rows += below if len(below) <= _BELOW else [*below[: _BELOW - 2], ("...", "|"), below[-1]]
    rows.append(("", "|" + "_" * (_columns(last[: min(max(last_column, 0), longest)]) + 1) + mark))
    return rows


def _clip(line: str, longest: int) -> str:
    return _display(line[:longest]) + ("…" if len(line) > longest else "")


def _display(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def _columns(text: str) -> int:
    return width(_display(text))


def changes(fix: Fix, texts: Texts) -> Iterator[tuple[str, list[Row]]]:
    """Yield for each file its path and line, and the rows of a diff; a file without text is left out."""
    from difflib import SequenceMatcher

    for path in dict.fromkeys(edit.span.path for edit in fix.edits):
        if (text := texts(path)) is None:
            continue
        edits = [edit for edit in fix.edits if edit.span.path == path]
        first = min(edit.span.line for edit in edits)
        last = max(edit.span.end_line for edit in edits)
        both = (text, apply_edits(path, text, edits))
        before, after = ([_display(line.rstrip("\r\n")) for line in split_lines(each)] for each in both)
        # Only the lines around the edits are compared, since only those differ.
        old = before[first - 1 : last]
        new = after[first - 1 : max(len(after) - len(before) + last, first - 1)]
        rows: list[Row] = []
        for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                rows += [(str(first + at), f"- {old[at]}") for at in range(start, end)]
                rows += [(str(first + at), f"+ {new[at]}") for at in range(new_start, new_end)]
        yield f"{path}:{first}", rows
