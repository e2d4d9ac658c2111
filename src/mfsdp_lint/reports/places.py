"""Places of findings in the terms of reports' readers: paths of the repository, URIs, bytes."""

from __future__ import annotations

import os
import posixpath

from mfsdp_lint.core.lines import split_lines


def in_repository(path: str, directory: str) -> str:
    """Return a path relative to the root of the repository; `directory` is where the tool runs, relative to that."""
    return posixpath.normpath(posixpath.join(directory, path.replace(os.sep, "/")))


def uri(path: str, directory: str = "") -> str:
    """Return a reference relative to the root of the repository; for an absolute path, a `file` URI."""
    from urllib.parse import quote

    where = in_repository(path, directory)
    quoted = quote(where.encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if posixpath.isabs(where) else quoted


def byte_column(text: str | None, line: int, column: int) -> int:
    """Convert a column in characters to bytes of UTF-8; unchanged if the text is not known."""
    lines = split_lines(text) if text is not None else ()
    if line > len(lines):
        return column
    return len(lines[line - 1][: column - 1].encode("utf-8", "surrogateescape")) + 1
