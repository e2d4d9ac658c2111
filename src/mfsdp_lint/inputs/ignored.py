"""What git ignores: the `.gitignore` files from the root of a repository down to a folder, and `.git/info/exclude`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.inputs import disk

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Patterns = tuple[str, "GitIgnoreSpec"]
"""A folder, as an absolute path, and what is ignored in and below it."""

FILES = (os.path.join(".git", "info", "exclude"), ".gitignore")
"""Where a folder has patterns; those of the later file win."""

MOST_STARS = 4
"""Of `*` in one part of a pattern, and of `**/`. Each multiplies the ways to match: with six a long name takes minutes,
and git itself hangs. Below that a name takes a quarter of a second at most."""

_NO_PATTERN = (ValueError, re.error)


class Ignored:
    """Answers for the entries of folders that are walked from the top; every file with patterns is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Sequence[Patterns]] = {}

    def walk(self, folder: str) -> None:
        """Has everything in a folder that the user named count, though git ignores the folder."""
        folder = os.path.abspath(folder or ".")
        if _is_ignored(folder, True, self._patterns(os.path.dirname(folder))):
            self._known[folder] = _own(folder)

    def __call__(self, folder: str, name: str, is_directory: bool) -> bool:
        """Whether git ignores an entry of a folder that is not ignored itself."""
        folder = os.path.abspath(folder or ".")
        return _is_ignored(os.path.join(folder, name), is_directory, self._patterns(folder))

    def _patterns(self, folder: str) -> Sequence[Patterns]:
        """What counts in a folder, the farthest first."""
        if folder not in self._known:
            above = os.path.dirname(folder)
            is_root = above == folder or disk.exists(os.path.join(folder, ".git"))
            self._known[folder] = (*(() if is_root else self._patterns(above)), *_own(folder))
        return self._known[folder]


def _own(folder: str) -> Sequence[Patterns]:
    found = []
    for name in FILES:
        try:
            lines = disk.read(os.path.join(folder, name)).decode("utf-8", "surrogateescape").splitlines()
        except OSError:
            continue
        found.append((folder, _spec(lines)))
    return found


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """What these lines ignore. What is no pattern ignores nothing, as for git; what takes forever neither."""
    import warnings

    from pathspec import GitIgnoreSpec

    quick = [line for line in lines if _is_quick(line)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python, about the regular expressions that they become
        try:
            return GitIgnoreSpec.from_lines(quick)
        except _NO_PATTERN:
            return GitIgnoreSpec.from_lines(line for line in quick if _is_pattern(line))


def _is_quick(line: str) -> bool:
    if line.count("*") <= MOST_STARS:
        return True
    parts = line.split("/")
    return parts.count("**") <= MOST_STARS and all(part == "**" or part.count("*") <= MOST_STARS for part in parts)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except _NO_PATTERN:
        return False
    return True


def _is_ignored(path: str, is_directory: bool, patterns: Sequence[Patterns]) -> bool:
    """The nearest pattern that matches decides."""
    for folder, spec in reversed(patterns):
        relative = os.path.relpath(path, folder).replace(os.sep, "/") + "/" * is_directory
        said = spec.check_file(relative).include
        if said is not None:
            return said
    return False
