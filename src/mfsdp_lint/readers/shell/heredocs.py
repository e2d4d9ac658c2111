"""`<<EOF`, `<<<`, `> FILE`: what a command is given to read, and where its output goes."""

from __future__ import annotations

import re

from tree_sitter import Node

from mfsdp_lint.readers.shell.expand import _ESCAPED_IN_QUOTES, Expander
from mfsdp_lint.readers.shell.pieces import Text, known, plain
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.state import State

_NOTHING = re.compile(r"(?!)()")


def heredoc(expander: Expander, script: Script, node: Node, state: State) -> Text | None:
    """Return the text that a redirected command reads from the script; None where it reads none."""
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            return _body(expander, script, child, state)
    return None


def _body(expander: Expander, script: Script, node: Node, state: State) -> Text:
    body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
    start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
    if body is None or start is None:
        return ()
    is_quoted = any(mark in script.source(start) for mark in "'\"\\")
    inner = [] if is_quoted else [child for child in body.named_children if child.type != "heredoc_content"]
    escape = _NOTHING if is_quoted else _ESCAPED_IN_QUOTES
    found = expander.mixed(script, *script.bounds(body), inner, state, escape)
    return tuple(piece for piece in found if piece is not None)


def written_to(expander: Expander, script: Script, node: Node, state: State) -> str | None:
    """Return the file that the output of a redirected command replaces; None where there is none, or its name is not
    known.

    A name with holes is a name all the same: the same holes are the same file.
    """
    for child in node.named_children:
        redirects = (child, *child.named_children) if child.type == "heredoc_redirect" else (child,)
        for each in redirects:
            if each.type == "file_redirect" and any(mark.type in (">", ">|") for mark in each.children):
                text = expander.text(script, each.named_children[-1], state)
                if known(text) != "/dev/null":
                    return plain(text)
    return None
