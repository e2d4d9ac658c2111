"""The comments of a shell script."""

from __future__ import annotations

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.shell.script import Script

SIMPLE = ("command", "declaration_command", "variable_assignment", "redirected_statement", "pipeline", "list")
"""A comment at the first or the last line of these is about all of their lines; within them there can be none."""

_COVERED = (*SIMPLE, "function_definition")


def shell_comments(text: str) -> list[CommentPlace]:
    """Find every comment; at the end of a line it covers that line, alone on a line also the command on the next one.

    At the line that begins a function it covers the function.
    """
    script = Script.of_file("", text)
    lines = Lines(text)
    found: list[tuple[int, str]] = []
    whole: dict[int, tuple[int, int]] = {}
    for node in script.nodes():
        if node.type != "comment" and node.type not in _COVERED:
            continue
        pieces = script.cut(*script.bounds(node))
        if not pieces:  # what the parser only supposes to be there
            continue
        if node.type == "comment":
            found.append((pieces[0].start, script.source(node)))
            continue
        first, last = lines.position(pieces[0].start)[0], lines.position(pieces[-1].end - 1)[0]
        if first < last:
            # What is outside comes first, and is the one that counts.
            whole.setdefault(first, (first, last))
            if node.type in SIMPLE:
                whole.setdefault(last, (first, last))
    return comment_places(text, found, whole)
