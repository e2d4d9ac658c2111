"""Syntax trees of files; the bodies of functions are parsed when they are used.

Two thirds of an imported file are functions that no recipe calls, and parsing is most of what an import costs. Cutting
them out takes no tokeniser, because what is cut is checked: the rest of the file must parse, and every cut must turn
out to be the whole body of the function that begins above it. Where a bracket is open at the border of a cut, that
fails, and the file is parsed whole. Strings over several lines and continued lines are made one line each before cuts
are looked for, so that none begins or ends in one.

Files that were asked for are parsed whole, to see that they are Python; their bodies are let go, which are most of the
memory.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.values import refuse_huge
from mfsdp_lint.inputs.sources import Unreadable

_HEAD_END = r":(?:[ ]*\#[^\n]*)?\n"
_DEFINITION = lazy_pattern(
    rf"""
    ^([ ]*)def[ ]
    (?:(?![^\n]*{_HEAD_END})[^\n]*\n\1[ )]){{0,60}}[^\n]*{_HEAD_END}  # the head, to the first line that ends in a colon
    ((?:(?:\1[ ]+[^ \n][^\n]*|[ ]*(?:\#[^\n]*)?)\n)+)              # the body: what is deeper, blank or a comment
    """,
    re.MULTILINE | re.VERBOSE,
)
_LONG_STRING = lazy_pattern(r'"""[^"]*(?:"(?!"")[^"]*)*"""')
_BEYOND = ("'''", '\\"""', '""""', "\r", "\f", "\t")
"""Text too rare in source code to reason about: other long strings, escaped ends, empty ones, other white space."""
_COMMENT_CONTINUED = lazy_pattern(r"^[^#\n]*#[^\n]*\\\n", re.MULTILINE)
_OTHER_LINES = ("\r", "\f")
"""Text that ends lines otherwise, or that a parser leaves out of the indentation."""
_NESTING = (ast.ClassDef, ast.If, ast.Try, ast.With, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
_SHORT = 120
"""Characters; parsing a shorter body at once costs less than cutting it out."""


class _Cut(NamedTuple):
    """A body that was left out: its text, the number of the line above it, and where it ends, if that is known."""

    text: str
    above: int
    end: tuple[int, int] | None = None


class Unread(ast.FunctionDef):
    """A function whose body is parsed when it is first asked for; from then on it is a function like any other."""

    cut: _Cut

    if not TYPE_CHECKING:
        body = property(lambda self: read_body(self).body)
        end_lineno = property(lambda self: self.cut.end[0] if self.cut.end else read_body(self).end_lineno)
        end_col_offset = property(lambda self: self.cut.end[1] if self.cut.end else read_body(self).end_col_offset)


class UnreadableBody(ast.stmt):
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


def checked(text: str) -> ast.Module:
    """Return the syntax tree of a file that is parsed whole, and its functions once more when somebody asks for them.

    Bodies are most of the memory of a tree, and most of them nobody asks for. Raises the errors of `ast.parse`.
    """
    tree = ast.parse(text)
    if not any(odd in text for odd in _OTHER_LINES):
        _let_go(tree.body, text.split("\n"))
    return tree


def _let_go(statements: list[ast.stmt], lines: list[str]) -> None:
    """Defer the reading of the functions among these statements, and in the blocks of these."""
    for node in statements:
        if type(node) is ast.FunctionDef and (cut := _body_in(node, lines)):
            del node.body, node.end_lineno, node.end_col_offset
            node.__class__ = Unread
            node.cut = cut  # type: ignore[attr-defined]  # it is an Unread by now
        elif isinstance(node, _NESTING):
            _let_go(node.body, lines)
            _let_go(getattr(node, "orelse", []), lines)


def _body_in(node: ast.FunctionDef, lines: list[str]) -> _Cut | None:
    """Return the body of a function as whole lines; None where it is short, or shares a line with something else."""
    first, end = node.body[0], (node.end_lineno or 0, node.end_col_offset or 0)
    above = min(each.lineno for each in (first, *getattr(first, "decorator_list", ()))) - 1
    body = lines[above : end[0]]
    if not body[0][: first.col_offset].isspace() or body[-1].endswith("\\") or sum(map(len, body)) < _SHORT:
        return None
    return _Cut("\n".join(body), above, end)


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


def read_body(node: Unread) -> Any:
    """Parse the body of a function; return the function."""
    cut = node.cut
    node.__class__ = ast.FunctionDef  # type: ignore[assignment]  # what it was at first
    whole: Any
    try:
        (whole,) = with_newer_strings("\n" * (cut.above - 1) + "def _():\n" + cut.text, ast.parse).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        unreadable = UnreadableBody(lineno=cut.above, col_offset=0, end_lineno=cut.above, end_col_offset=0)
        node.body, node.end_lineno, node.end_col_offset = [unreadable], cut.above, 0
        return node
    node.body, node.end_lineno, node.end_col_offset = whole.body, whole.end_lineno, whole.end_col_offset
    _read.append(node)
    return node


MOST_READ = 1_500
"""Functions whose bodies are kept between two evaluations (about 40 MB)."""

_read: deque[Unread] = deque()
"""Functions whose bodies were read, those that were read first in front."""


def let_go_of_bodies() -> None:
    """Forget the bodies that were read first, where many were: who asks for one again has it parsed again.

    This is for the time between evaluations, which tell nodes apart.
    """
    while len(_read) > MOST_READ:
        node = _read.popleft()
        del node.body, node.end_lineno, node.end_col_offset
        node.__class__ = Unread


PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""A file may be valid for another one."""

Parser = Callable[[str], ast.Module]

_parsed: dict[tuple[str, Parser], tuple[str, ast.Module]] = {}
"""The last trees of every file, with the text they are of: proofs of fixes read mostly unchanged files again."""


def parse(path: str, text: str, parser: Parser = checked) -> ast.Module:
    """Return the syntax tree of a file. Raises Unreadable, with the place, where it is not Python."""
    known = _parsed.get((path, parser))
    if known is not None and known[0] == text:
        return known[1]
    tree = _parse(path, text, parser)
    _parsed[path, parser] = (text, tree)
    return tree


def _parse(path: str, text: str, parser: Parser) -> ast.Module:
    try:
        refuse_huge(text)
        return with_newer_strings(text, parser)
    except SyntaxError as error:
        raise Unreadable(path, error.lineno or 1, error.offset or 1, f"not valid {PYTHON}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        reason = "nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else str(error)
        raise Unreadable(path, 1, 1, f"not valid {PYTHON}: {reason}") from None


def with_newer_strings(text: str, parser: Parser) -> ast.Module:
    """Return the syntax tree of a text; f-strings that only Python 3.12 reads (PEP 701) are calls of unknown result.

    They may hold quotes, backslashes and line breaks. Raises the errors of the parser.
    """
    try:
        return parser(text)
    except SyntaxError as error:
        is_about_strings = "f-string" in error.msg or "string literal" in error.msg
        older = _without_newer_strings(text) if sys.version_info < (3, 12) and is_about_strings else None
        if older is None:
            raise
    return parser(older)


def _without_newer_strings(text: str) -> str | None:
    """Replace such f-strings by calls of the same size, so that places stay; None where the text is no Python."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        found = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True).resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    lines = [0, *(each.end() for each in re.finditer("\r\n|\r|\n", text))]
    strings = [
        (lines[place.start.line - 1] + place.start.column, lines[place.end.line - 1] + place.end.column)
        for node, place in found.items()
        if isinstance(node, (cst.FormattedString, cst.ConcatenatedString))
    ]
    parts, end = [], 0
    for start, stop in sorted(strings, key=lambda each: (each[0], -each[1])):
        string = text[start:stop]
        if start >= end and not _is_expression(string):
            above, _, last = string.rpartition("\n")
            called, breaks = "hash(", string.count("\n")
            parts += [text[end:start], called, "\n" * breaks, ")".rjust(len(last.encode()) - len(called) * (not above))]
            end = stop
    return "".join((*parts, text[end:]))


def _is_expression(text: str) -> bool:
    try:
        ast.parse(f"({text})")
    except SyntaxError:
        return False
    return True
