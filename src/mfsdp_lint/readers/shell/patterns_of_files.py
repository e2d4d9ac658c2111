"""Patterns of names in a script (`runs/*.env`) → the files of the tree that they stand for, as a shell has them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import above

if TYPE_CHECKING:
    from tree_sitter import Node

    from mfsdp_lint.readers.shell.script import Script

IN_PATTERN = lazy_pattern(r"[*?]|\[[^]\s]+\]")


def is_pattern(script: Script, node: Node) -> bool:
    """Tell whether a word has signs of a pattern outside of its quotes."""
    parts = node.children if node.type == "concatenation" else (node,)
    return any(each.type == "word" and IN_PATTERN.search(script.source(each)) for each in parts)


def files_matching(pattern: str, script: str, folder: str | None) -> list[str]:
    """Return what a pattern in a script stands for, sorted: paths from the folder that the script changed to, lies in,
    or above; none where nothing in the tree matches.
    """
    if posixpath.isabs(pattern):
        return []
    for place in (*([] if folder is None else [folder]), *above(script)):
        if found := list(matching(place, pattern)):
            return found
    return []


def matching(folder: str, pattern: str) -> Iterator[str]:
    """Yield what a pattern stands for in a folder, sorted: paths from there."""
    first, slash, rest = pattern.partition("/")
    if IN_PATTERN.search(first):
        # A name that begins with a dot is meant by a pattern that does.
        every = disk.Listing("" if folder == "." else folder).matching(first)
        names = [each for each in every if first.startswith(".") or not each.startswith(".")]
    else:
        names = [first]
    for name in names:
        place = posixpath.normpath(posixpath.join(folder, name))
        if slash:
            yield from (posixpath.join(name, each) for each in matching(place, rest))
        elif disk.exists(place):
            yield name
