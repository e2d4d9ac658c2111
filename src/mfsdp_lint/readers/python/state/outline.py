"""Files that are only imported: parsed without the bodies of their functions, each of which is parsed when it is used.

Two thirds of an imported file are functions that no recipe calls, and parsing is most of what an import costs. Cutting
them out takes no tokeniser, because what is cut is checked: the rest of the file must parse, and every cut must turn
out to be the whole body of the function that begins above it. Where a bracket is open at the border of a cut, that
fails, and the file is parsed whole. Strings over several lines and continued lines are made one line each before cuts
are looked for, so that none begins or ends in one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

_HEAD_END = r":(?:[ ]*\#[^\n]*)?\n"
_DEFINITION = re.compile(
    rf"""
    ^([ ]*)def[ ]
    (?:(?![^\n]*{_HEAD_END})[^\n]*\n\1[ )]){{0,60}}[^\n]*{_HEAD_END}  # the head, to the first line that ends in a colon
    ((?:(?:\1[ ]+[^ \n][^\n]*|[ ]*(?:\#[^\n]*)?)\n)+)              # the body: what is deeper, blank or a comment
    """,
    re.MULTILINE | re.VERBOSE,
)
_LONG_STRING = re.compile(r'"""[^"]*(?:"(?!"")[^"]*)*"""')
_BEYOND = ("'''", '\\"""', '""""', "\r", "\f", "\t")
"""Text too rare in source code to reason about: other long strings, escaped ends, empty ones, other white space."""
_COMMENT_CONTINUED = re.compile(r"#[^\n]*\\\n")
_NESTING = (ast.ClassDef, ast.If, ast.Try, ast.With, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
_SHORT = 120
"""Characters; parsing a shorter body at once costs less than cutting it out."""


class _Cut(NamedTuple):
    """A body that was left out: its text, and the number of the line above it."""

    text: str
    above: int


class Unread(ast.FunctionDef):
    """A function whose body is parsed when it is first asked for; from then on it is a function like any other."""

    cut: _Cut

    if not TYPE_CHECKING:
        body = property(lambda self: _read(self).body)
        end_lineno = property(lambda self: _read(self).end_lineno)
        end_col_offset = property(lambda self: _read(self).end_col_offset)


class Unreadable(ast.stmt):
    """Stands for the body of a function that is no Python to this interpreter: nothing is known of what it does."""


def outline(text: str) -> ast.Module:
    """Return the syntax tree of a file whose functions are parsed later. Raises the errors of `ast.parse`.

    Where a class or another block ends with such a function, that block's own end is not that of the file.
    """
    masked = _masked(text)
    cuts: dict[int, _Cut] = {}
    kept: list[str] = []
    line, end = 1, 0
    for found in _DEFINITION.finditer(masked):
        start, stop = found.span(2)
        if stop - start < _SHORT:
            continue
        head = line + text.count("\n", end, found.start())
        below = head + text.count("\n", found.start(), start)
        height = text.count("\n", start, stop)
        # `pass` is no expression: where a bracket is open, it is an error.
        kept += (text[end:start], found.group(1), " pass", "\n" * height)
        cuts[head] = _Cut(text[start:stop], below - 1)
        line, end = below + height, stop
    if cuts:
        try:
            tree = ast.parse("".join((*kept, text[end:])))
        except SyntaxError:
            return ast.parse(text)
        if _leave_out(tree, cuts):
            return tree
    return ast.parse(text)


def _masked(text: str) -> str:
    """Return the text with its long strings and continued lines made one line each, of the same length.

    Three quotes begin a string if no other string and no comment is open there. Returns an empty text where that is
    not certain.
    """
    if any(odd in text for odd in _BEYOND):
        return ""
    parts: list[str] = []
    end = 0
    for found in _LONG_STRING.finditer(text):
        start = found.start()
        line = text.rfind("\n", end, start) + 1
        before = text[max(end, line) : start]
        if "'" in before or '"' in before or "#" in before or text[line - 2 : line] == "\\\n":
            return ""
        parts += (text[end:start], "_" * (found.end() - start))
        end = found.end()
    masked = "".join((*parts, text[end:]))
    return "" if _COMMENT_CONTINUED.search(masked) else masked.replace("\\\n", "__")


def _leave_out(tree: ast.Module, cuts: dict[int, _Cut]) -> bool:
    """Defer the reading of the functions with these heads; False where a cut is not the body of a function."""
    functions = [node for node in _functions(tree.body) if node.lineno in cuts]
    if len(functions) != len(cuts):
        return False
    for node in functions:
        only = node.body[0]
        if len(node.body) > 1 or type(only) is not ast.Pass or only.lineno != cuts[node.lineno].above + 1:
            return False
    for node in functions:
        cut = cuts[node.lineno]
        node.__class__ = Unread
        node.cut = cut  # type: ignore[attr-defined]  # it is an Unread by now
    return True


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if type(node) is ast.FunctionDef:
            yield node
        if isinstance(node, _NESTING):
            yield from _functions(node.body)
            yield from _functions(getattr(node, "orelse", []))


def _read(node: Unread) -> Any:
    cut = node.cut
    del node.cut
    node.__class__ = ast.FunctionDef  # type: ignore[assignment]  # what it was at first
    whole: Any
    try:
        (whole,) = ast.parse("\n" * (cut.above - 1) + "def _():\n" + cut.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        unreadable = Unreadable(lineno=cut.above, col_offset=0, end_lineno=cut.above, end_col_offset=0)
        node.body, node.end_lineno, node.end_col_offset = [unreadable], cut.above, 0
        return node
    node.body, node.end_lineno, node.end_col_offset = whole.body, whole.end_lineno, whole.end_col_offset
    return node
