"""Words that several formats share: stages, verdicts of a dry run, numbers, names; and text that is safe to print.

Text of a file, a path or a value must not steer the terminal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from unicodedata import combining, east_asian_width

from mfsdp_lint.core.finding import AffectedRecipe, Confirmation, Finding, Stage
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.terminal import printable as printable


def width(text: str) -> int:
    """Count the terminal columns of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Align columns to the left, those of these numbers to the right.

    The last cell of a row that ends early may be wider than its column.
    """
    number = max(map(len, rows), default=0)
    widths = [max(width(row[at]) for row in rows if at < len(row) - (len(row) < number)) for at in range(number)]
    for row in rows:
        gaps = [" " * (wide - width(text)) for text, wide in zip(row, widths, strict=False)]
        cells = (
            gap + text if at in right else text + gap for at, (text, gap) in enumerate(zip(row, gaps, strict=True))
        )
        yield "  ".join(cells).rstrip()


def folded(text: str, columns: int, indent: str = "") -> list[str]:
    """Break a line between words so that it fits a terminal; 0 columns: it is not broken. Colours take no room.

    The further lines begin with `indent`. A word that is wider than the terminal stays whole.
    """
    if not columns or len(text) <= columns:
        return [text]
    lines: list[str] = []
    lead = text[: len(text) - len(text.lstrip(" "))]
    line, room = lead, len(lead)
    for word in text[len(lead) :].split(" "):
        wide = width(COLOR.sub("", word))
        if line.strip() and room + 1 + wide > columns:
            lines.append(line.rstrip())
            line, room = indent, len(indent)
        joint = " " if line.strip() else ""
        line += joint + word
        room += len(joint) + wide
    return [*lines, line.rstrip()]


COLOR = lazy_pattern(r"\x1b\[[0-9;]*m")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], columns: int = 0) -> Iterator[str]:
    """Lay out rows under a head; where they do not fit the terminal, each row takes several lines."""
    lines = list(aligned([head, *rows]))
    if not columns or max(map(width, lines)) <= columns:
        yield from lines
        return
    lead = max(width(row[0]) for row in (head, *rows)) + 2
    for row in (head, *rows):
        cells = [row[0].ljust(lead - 2), *(cell for cell in row[1:-1] if cell)]
        yield from folded("  ".join(cells), columns, " " * lead)
        if len(row) > 1:
            yield from folded(" " * lead + row[-1], columns, " " * lead)


def clipped(text: str, longest: int) -> str:
    """Cut a long text to its beginning."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shorten(recipes: Sequence[AffectedRecipe], shown: int = 1) -> str:
    """Name the first recipes and count the others: `llama3_8b_pretrain_config and 41 more`."""
    names = ", ".join(printable(recipe.name) for recipe in recipes[:shown])
    more = len(recipes) - shown
    return f"{names} and {more} more" if more > 0 else names


def unfollowed_lines(unfollowed: Sequence[Unfollowed]) -> list[str]:
    """Describe code without a recipe, a line each."""
    return [
        f"{printable(each.path)}:{each.line}: {printable(each.name)} could not be followed: {printable(each.message)}"
        + ("" if each.span is None else f" ({printable(each.point.path)}:{each.point.line})")
        for each in unfollowed
    ]


def count(number: int, noun: str) -> str:
    """Write a number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_VERDICT_LINES = 3

WHEN: dict[Stage, str] = {
    "startup": "at start-up",
    "wrap": "when the model is wrapped",
    "first-step": "at the first training step",
    "save": "when a checkpoint is saved",
    "load": "when a checkpoint is loaded",
    "never": "silently",
}

STAGES: dict[Stage, str] = {
    "startup": "startup",
    "wrap": "wrap",
    "first-step": "first-step",
    "save": "save",
    "load": "load",
    "never": "silently",
}
"""The stages in lists for people: nothing stops a run at the last one."""


def remarks(finding: Finding, *, verdict: bool = False) -> list[str]:
    """List the consequence of a mistake, the error that it will raise, and the verdict of a dry run, if requested."""
    told = [f"{WHEN[finding.stage]}: {finding.consequence}"] if finding.consequence else []
    if finding.raises:
        told.append(f"the error will be: {finding.raises}")
    if verdict and finding.confirmation:
        told.append(verdict_text(finding.confirmation))
    return told


def verdict_text(confirmation: Confirmation) -> str:
    """Describe a verdict: `a dry run (introspect) confirmed it: AssertionError: …`"""
    tier = f" ({confirmation.tier})" if confirmation.tier else ""
    seen = first_lines(confirmation.seen)
    match confirmation.verdict:
        case "inconclusive":
            reason = first_lines(confirmation.reason)
            return f"a dry run{tier} was inconclusive: {reason}" + (f" (seen: {seen})" if confirmation.seen else "")
        case "hypothetical":
            return f"a dry run{tier}: it {confirmation.reason}: {seen}"
        case verdict:
            wrong = "; the rule seems wrong for these versions, please report it" if verdict == "refuted" else ""
            return f"a dry run{tier} {verdict} it: {seen}{wrong}"


def first_lines(message: str) -> str:
    """Put the beginning of an error on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(lines[:_VERDICT_LINES])
