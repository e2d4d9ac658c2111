"""Globs of the configuration or the command line, and the files that they match."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase


def normalised(pattern: str) -> str:
    """Normalise a pattern: `./old/` and `old/**` are `old`."""
    return pattern.removeprefix("./").removesuffix("/**").rstrip("/")


def beside(file: str, pattern: str) -> str:
    """Return the glob of a file for use in any folder: a glob with a slash is relative to the file's own folder."""
    from glob import escape

    bare = normalised(pattern)
    if "/" not in bare or os.path.isabs(bare):
        return pattern
    folder = os.path.dirname(os.path.abspath(file)).replace(os.sep, "/").rstrip("/")
    return f"{escape(folder)}/{bare}"


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path, or a folder on the way to it from here, matches."""
    bare = tuple(map(normalised, patterns))
    parts = path.replace(os.sep, "/").rstrip("/").split("/")
    ways = ("/".join(parts[: number + 1]) for number in range(len(parts)))
    return any(matches(way, bare) for way in ways if way not in ("", ".", ".."))


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether one of the patterns (`normalised`) matches a path, or a folder that contains it by a full name.

    A glob without a slash is compared with the name, one with a slash with the path from the working directory and the
    absolute one; `**/` also matches no folder.
    """
    if not patterns:
        return False
    name = path.rpartition("/")[2]
    absolute = os.path.abspath(path).replace(os.sep, "/")
    relative = os.path.relpath(absolute).replace(os.sep, "/")
    ways = (relative, "/" + relative, absolute)
    return any(
        any(fnmatchcase(way, each) for way in ways for each in (pattern, pattern.replace("/**/", "/")))
        if "/" in pattern
        else fnmatchcase(name, pattern)
        for pattern in patterns
    )
