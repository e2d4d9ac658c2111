"""The comments of a shell script."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.shell.script import Script


def shell_comments(text: str) -> list[CommentPlace]:
    """Every comment; at the end of a line it covers that line, alone on a line also the next one."""
    script = Script.of_file("", text)
    return comment_places(text, ((script.bounds(node)[0], script.source(node)) for node in _comments(script.root)))


def _comments(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            yield node
        waiting += reversed(node.children)
