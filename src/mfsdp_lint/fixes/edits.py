"""Text and edits: places by line and column on the outside, offsets on the inside; a patch that `git apply` accepts.

Comma-separated items between brackets are calls and dictionaries in Python, flow mappings in YAML. Both languages begin
comments with `#`, so one set of functions serves both.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import dataclass, field

LINE_END = lazy_pattern(r"\r\n|\r|\n")


class OverlapError(ValueError):
    """Two edits want to change the same piece of text."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, by offsets. Offsets count characters from 0."""

    path: str
    text: str
    lines: Lines = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", Lines(self.text))

    def range(self, span: Span) -> tuple[int, int]:
        """Return the offsets of a span's start and end."""
        return self.lines.range(span)

    def edit(self, start: int, end: int, new: str) -> Edit:
        """Make the edit that replaces the text from `start` to `end` (equal for an insertion) by `new`."""
        return Edit(self.lines.span(self.path, start, end), new)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of `offset` begins."""
        return self.lines.offset(self.lines.position(offset)[0], 1)

    def line_end(self, offset: int) -> int:
        """Return the offset at which the line of `offset` ends, before its line ending."""
        match = LINE_END.search(self.text, offset)
        return match.start() if match else len(self.text)

    def next_line(self, offset: int) -> int:
        """Return the offset of the line after that of `offset`; the end of the text if there is none."""
        match = LINE_END.search(self.text, offset)
        return match.end() if match else len(self.text)

    def newline(self, offset: int) -> str:
        """Return the line ending in use around `offset`: its line's, else the last one before, else a line feed."""
        match = LINE_END.search(self.text, offset)
        if match:
            return match.group()
        ends = LINE_END.findall(self.text)
        return ends[-1] if ends else "\n"


def path_written(document: FileText, origin: Origin, path: str, meant: str) -> list[Edit] | None:
    """Write another path where `origin` has one in full; None where it stands there more than once, or not at all."""
    start, end = document.range(origin.span)
    found = list(re.finditer(rf"(?<![\w.]){re.escape(path)}(?![\w.])", document.text[start:end]))
    if len(found) != 1:
        return None
    return [document.edit(start + found[0].start(), start + found[0].end(), meant)]


def merge(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Order all edits by their places, equal ones once.

    Insertions at one place come before a replacement there: those of inner blocks first, which end there, and else in
    the order in which they were given. Raises OverlapError when two edits touch the same text and differ.
    """
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span, -_indentation(edit.text)))
    for before, after in pairwise(ordered):
        end, start = (before.span.end_line, before.span.end_column), (after.span.line, after.span.column)
        if before.span.path == after.span.path and end > start:
            raise OverlapError(f"{after.span.path}:{after.span.line}: two fixes change the same text")
    return tuple(ordered)


def apply_edits(path: str, text: str, edits: Iterable[Edit]) -> str:
    """Apply those of `edits` that are in the file `path` to its `text`. Raises OverlapError."""
    document = FileText(path, text)
    pieces: list[str] = []
    done = 0
    for edit in merge(edit for edit in edits if edit.span.path == path):
        start, end = document.range(edit.span)
        pieces += (text[done:start], edit.text)
        done = end
    return "".join((*pieces, text[done:]))


def apply_all(texts: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    """Return the new text of every file of `texts` that `edits` change. Raises OverlapError."""
    every = tuple(edits)
    return {path: apply_edits(path, texts[path], every) for path in dict.fromkeys(edit.span.path for edit in every)}


def _indentation(text: str) -> int:
    line = text.lstrip("\r\n")
    return len(line) - len(line.lstrip(" \t"))


Change = tuple[int, int, str]
"""Replace the text between two offsets."""


@dataclass(frozen=True, slots=True)
class Items:
    """The offsets of the opening and the closing bracket, and of every item between them, commas not included."""

    opening: int
    closing: int
    items: Sequence[tuple[int, int]]


def append_items(document: FileText, between: Items, new: Sequence[str]) -> list[Change] | None:
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


def remove_item(document: FileText, between: Items, index: int) -> list[Change]:
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


_BRACKET = lazy_pattern(r"\[(?P<codes>[^\]]*)\]")


def taken_out(comment: Span, idle: Collection[str], text: str) -> Edit:
    """Remove the `idle` codes of a comment; the whole comment if no other code is left, and its line if it has nothing
    else.

    `text` is the file's text.
    """
    file = FileText(comment.path, text)
    start, end = file.range(comment)
    bracket = _BRACKET.search(text, start, end)
    kept = [code for code in _codes(bracket) if code not in idle]
    if bracket and kept:
        return file.edit(*bracket.span("codes"), ", ".join(kept))
    line, line_end = file.line_start(start), file.line_end(end)
    before, behind = text[line:start].rstrip(" \t"), text[end:line_end].strip()
    if not before and not behind:
        return file.edit(line, file.next_line(end), "")
    if not before:
        return file.edit(start, line_end - len(text[end:line_end].lstrip()), "")
    return file.edit(line + len(before), end if behind else line_end, "")


def _codes(bracket: re.Match[str] | None) -> list[str]:
    named = bracket["codes"].split(",") if bracket else ()
    return list(dict.fromkeys(code.strip() for code in named if code.strip()))


NO_NEWLINE = b"\n\\ No newline at end of file\n"


def make_patch(files: Iterable[tuple[str, bytes, bytes]]) -> bytes:
    """Make the unified diff of files, each given as its path and its content before and after; equal ones are left
    out.

    The diff works on bytes, so that encodings, byte order marks and line endings are preserved. Paths are written
    relative to the current directory, where the patch is to be applied.
    """
    return b"".join(_file_patch(path, before, after) for path, before, after in files if before != after)


def patch_path(path: str) -> str:
    """Write a path as a patch names it: relative to the current directory, with slashes."""
    return os.path.relpath(path).replace(os.sep, "/")


def _file_patch(path: str, before: bytes, after: bytes) -> bytes:
    name = patch_path(path)
    old, new = _name("a/" + name), _name("b/" + name)
    # git ends a name that has a space in it with a tab, so that it knows where the name stops.
    tab = b"\t" if " " in name and not old.startswith(b'"') else b""
    # latin-1 maps every byte to one character and back.
    lines = _hunks(_lines(before), _lines(after))
    # Without a `diff --git` line: with one, git takes the paths from the root of the repository, and in a folder below
    # it applies nothing, in silence.
    head = b"--- %s%s\n+++ %s%s\n" % (old, tab, new, tab)
    body = (line.encode("latin-1") for line in lines)
    return head + b"".join(line if line.endswith(b"\n") else line + NO_NEWLINE for line in body)


CONTEXT = 3
"""The lines around a change that are shown."""

MOST_LINES = 3000
"""Up to here every line counts when two texts are compared. In longer ones difflib leaves the frequent ones out."""


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the changes as hunks of a unified diff. The common beginning and end of both texts are not compared."""
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    first, last = max(first - CONTEXT, 0), max(last - CONTEXT, 0)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    import difflib  # only where a patch is shown

    matcher = difflib.SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > MOST_LINES)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_range(first + old_start, first + old_end)} +{_range(first + new_start, first + new_end)} @@\n"
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (" " + line for line in old[old_start:old_end])
                continue
            yield from ("-" + line for line in old[old_start:old_end])
            yield from ("+" + line for line in new[new_start:new_end])


def _common(one: list[str], other: list[str]) -> int:
    """Count the lines that two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _range(start: int, end: int) -> str:
    """Write the lines from `start` (from 0) up to `end`: the first line's number, and the count unless it is one."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + bool(length)},{length}"


def _lines(content: bytes) -> list[str]:
    """Split into lines as git counts them: only a line feed ends one."""
    lines = [line + "\n" for line in content.decode("latin-1").split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _name(name: str) -> bytes:
    """Write a name as git does: in quotes, with octal escapes, if it has special characters."""
    data = name.encode("utf-8", "surrogateescape")
    special = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}
    if all(32 <= byte < 127 and byte not in special for byte in data):
        return data
    return (
        b'"'
        + b"".join(special.get(byte) or (bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte) for byte in data)
        + b'"'
    )
