"""Commands of several lines that end too early: a backslash with something behind it, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from mfsdp_lint.core.recipe import Notice
from mfsdp_lint.readers.shell.pieces import Text, around
from mfsdp_lint.readers.shell.script import Script

_BROKEN = re.compile(r"(?<!\\)\\(?P<behind>[ \t]+(?P<comment>#.*)?)\n(?=[ \t]*[-$\"'])")
_NOT_READ = frozenset(("comment", "raw_string", "ansi_c_string", "heredoc_body", "heredoc_content"))
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_AROUND = ("redirected_statement", "pipeline", "list", "negated_command")


def broken_continuations(script: Script) -> Iterator[Notice]:
    """Yield blanks or comments behind a backslash: it escapes only the blank, and the line ends there."""
    for found in _BROKEN.finditer(script.text):
        if not _is_read(script.node_at(found.start(), found.start() + 1)):
            continue
        span = around(script.cut(*found.span("behind")))
        yield Notice("broken-continuation", span, {"comment": found["comment"]})


def lost_continuations(script: Script) -> Iterator[Notice]:
    """Yield lines of options that no command in front of them takes."""
    lines = script.text.split("\n")
    for node in script.nodes():
        if node.type != "command" or not _is_option(script, node) or _before(node) is None:
            continue
        row = node.start_point.row - 1
        while row and lines[row].lstrip().startswith("#"):
            row -= 1
        above, comment = lines[row], lines[node.start_point.row - 1].strip()
        if _BROKEN.search(f"{above}\n-"):
            continue  # that is what is wrong
        name = script.source(node.children[0])
        ended_by = comment if comment.startswith("#") and above.endswith("\\") else None
        yield Notice("lost-continuation", script.span(node), {"option": name, "comment": ended_by})


def words_cut_off(script: Script, node: Node) -> list[Text]:
    """Return the words on the lines of options right behind a command, which the command does not get."""
    found: list[Text] = []
    behind = _next(_whole(node))
    while behind is not None and behind.type == "command" and _is_option(script, behind):
        found += [script.cut(*script.bounds(child)) for child in behind.named_children]
        behind = _next(behind)
    return found


def _is_option(script: Script, node: Node) -> bool:
    return bool(node.children) and bool(_OPTION.fullmatch(script.source(node.children[0])))


def _before(node: Node) -> Node | None:
    """Find the statement above that options could belong to; return None where that is the same mistake."""
    node = _whole(node)
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None or before.end_point.row >= node.start_point.row:
        return None
    first = before
    while first.type in _AROUND:
        first = first.children[0]
    is_option = first.type == "command" and (first.children[0].text or b"").startswith(b"-")
    return None if is_option else before


def _whole(node: Node) -> Node:
    """Return the statement that a command begins."""
    while node.parent is not None and node.parent.type in _AROUND and node.parent.children[0] == node:
        node = node.parent
    return node


def _next(node: Node) -> Node | None:
    behind = node.next_named_sibling
    while behind is not None and behind.type == "comment":
        behind = behind.next_named_sibling
    return behind


def _is_read(node: Node | None) -> bool:
    """Tell whether a text is code of the script: not a comment, and not taken literally."""
    while node is not None:
        if node.type in _NOT_READ:
            return False
        node = node.parent
    return True
