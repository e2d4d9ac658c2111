"""Paths that are written in files, with slashes as people write them."""

from __future__ import annotations

import os
import posixpath

from mfsdp_lint.inputs.projects import is_project, repository_above


def beside(path: str, other: str) -> str:
    """Resolve a path that is written in a file against that file's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def above(path: str) -> list[str]:
    """Return the folders that a file lies in, the innermost first, up to the root of its repository.

    Where nothing marks a root, they are those that the path names.
    """
    folder = posixpath.dirname(path)
    top = _repository(os.path.abspath(folder))
    found = [folder]
    while os.path.abspath(found[-1]) != top:
        parent = _parent(found[-1])
        # Where nothing marks a root, only the folders are known that the path names.
        if parent is None or (top is None and parent.endswith("..")):
            break
        found.append(parent)
    return found


def _parent(folder: str) -> str | None:
    if posixpath.basename(folder) in ("", ".", "..") and not folder.endswith("/"):
        return posixpath.normpath(posixpath.join(folder, ".."))
    parent = posixpath.dirname(folder)
    return None if parent == folder else parent


def _repository(folder: str) -> str | None:
    top = repository_above(folder)
    return top if is_project(top) else None
