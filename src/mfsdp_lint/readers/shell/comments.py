"""The comments of a shell script."""

from __future__ import annotations

from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.shell.script import Script


def shell_comments(text: str) -> list[CommentPlace]:
    """Every comment; at the end of a line it covers that line, alone on a line also the next one."""
    script = Script.of_file("", text)
    comments = (node for node in script.nodes() if node.type == "comment")
    return comment_places(text, ((script.cut(*script.bounds(node))[0].start, script.source(node)) for node in comments))
