"""A patch that `git apply` accepts, for any number of files."""

from __future__ import annotations

import difflib
import os.path
from collections.abc import Iterable, Iterator

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
