"""Paths that are written in files, with slashes as people write them."""

from __future__ import annotations

import posixpath


def beside(path: str, other: str) -> str:
    """Resolve a path that is written in a file against that file's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def above(path: str) -> list[str]:
    """Return the folders that a file lies in, the innermost first, as far as its path names them."""
    found = []
    folder = posixpath.dirname(path)
    while True:
        found.append(folder)
        parent = posixpath.dirname(folder)
        if parent == folder:
            return found
        folder = parent
