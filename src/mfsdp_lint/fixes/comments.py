"""The edit that takes a suppression comment out, or some of its codes."""

from __future__ import annotations

import re
from collections.abc import Collection

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.fixes.edits import Text

_BRACKET = re.compile(r"\[(?P<codes>[^\]]*)\]")


def taken_out(comment: Span, idle: Collection[str], text: str) -> Edit:
    """Remove the `idle` codes of a comment; the whole comment if no other code is left, and its line if it has nothing
    else.

    `text` is the file's text.
    """
    file = Text(comment.path, text)
    start, end = file.range(comment)
    bracket = _BRACKET.search(text, start, end)
    kept = [code for code in _codes(bracket) if code not in idle]
    if bracket and kept:
        return file.edit(*bracket.span("codes"), ", ".join(kept))
    line, line_end = file.line_start(start), file.line_end(end)
    before, behind = text[line:start].rstrip(" \t"), text[end:line_end].strip()
    if not before and not behind:
        return file.edit(line, file.next_line(end), "")
    if not before:
        return file.edit(start, line_end - len(text[end:line_end].lstrip()), "")
    return file.edit(line + len(before), end if behind else line_end, "")


def _codes(bracket: re.Match[str] | None) -> list[str]:
    named = bracket["codes"].split(",") if bracket else ()
    return list(dict.fromkeys(code.strip() for code in named if code.strip()))
