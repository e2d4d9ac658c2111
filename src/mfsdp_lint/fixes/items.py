"""Comma-separated items between brackets: calls and dictionaries in Python, flow mappings in YAML.

Both languages begin comments with `#`, so one set of functions serves both. Everything is in offsets; what comes
back are (start, end, new text) triples.
"""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.edits import Text

Change = tuple[int, int, str]
"""Replace the text between two offsets."""


@dataclass(frozen=True, slots=True)
class Items:
    """The offsets of the opening and the closing bracket, and of every item between them, commas not included."""

    opening: int
    closing: int
    items: Sequence[tuple[int, int]]


def append(document: Text, between: Items, new: Sequence[str]) -> list[Change] | None:
    """Add items at the end in the style of those that are there: one a line, or all on one.

    None when there is nothing to take the style from (brackets that hold nothing but a comment).
    """
    text = document.text
    if not between.items:
        inside = text[between.opening + 1 : between.closing]
        return None if inside.strip() else [(between.opening + 1, between.closing, ", ".join(new))]
    start, end = between.items[-1]
    comma = _comma(text, end, between.closing)
    line_start = document.line_start(start)
    indentation = text[line_start:start]
    if indentation.strip() or line_start <= between.opening:
        if comma is None:
            return [(end, end, f", {item}") for item in new]
        return [(comma + 1, comma + 1, f" {item},") for item in new]

    lead = document.newline(document.line_start(line_start - 1)) + indentation
    line_end = document.line_end(end if comma is None else comma)
    if comma is not None:
        at = min(line_end, between.closing) if line_end < between.closing else comma + 1
        return [(at, at, f"{lead}{item},") for item in new]
    if "#" in text[end : min(line_end, between.closing)]:
        # The comma belongs before the comment, the new lines behind it.
        return [(end, end, ","), *((line_end, line_end, f"{lead}{item},") for item in new)]
    return [(end, end, f",{lead}{item}") for item in new]


def remove(document: Text, between: Items, index: int) -> list[Change]:
    """Take one item out with its comma, and with its line and that line's comment when it has the line to itself."""
    text = document.text
    start, end = between.items[index]
    last = index + 1 == len(between.items)
    limit = between.closing if last else between.items[index + 1][0]
    comma = _comma(text, end, limit)
    stop = end if comma is None else comma + 1
    line_start, line_end = document.line_start(start), document.line_end(stop)
    rest = text[stop:line_end].strip()
    if (
        line_start > between.opening
        and not text[line_start:start].strip()
        and (not rest or rest.startswith("#"))
        and line_end < between.closing
    ):
        return [(line_start, document.next_line(stop), "")]
    if len(between.items) == 1:
        inside = text[between.opening + 1 : between.closing]
        return [(start, stop, "")] if "#" in inside else [(between.opening + 1, between.closing, "")]
    if not last:
        following = between.items[index + 1][0]
        return [(start, stop if text[stop:following].strip() else following, "")]
    before = between.items[index - 1][1]
    return [(start, stop, "")] if "#" in text[before:start] else [(before, end, "")]


def _comma(text: str, start: int, end: int) -> int | None:
    """Find the first comma between two offsets that is not in a comment."""
    at = start
    while at < end:
        if text[at] == ",":
            return at
        if text[at] == "#":
            while at < end and text[at] not in "\r\n":
                at += 1
        else:
            at += 1
    return None
