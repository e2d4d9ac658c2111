"""Locations of statements in a Python file: found on `ast`, inserted and deleted as text.

Offsets are in characters; `ast` counts columns in UTF-8 bytes.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.edits import LINE_END, FileText

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef

_REST_OF_LINE = lazy_pattern(r"[ \t\f]*;?[ \t\f]*(#.*)?")
_CONTINUATION = lazy_pattern(r"\\(\r\n|\r|\n)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple statement: its text's offsets, the block it belongs to, and the function (or module) around it."""

    node: ast.stmt
    start: int
    end: int
    block: Sequence[ast.stmt]
    index: int
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class PythonFile:
    """A Python file's text and tree. The same only as itself, so that what is known of it can be remembered."""

    document: FileText
    tree: ast.Module

    def range(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return the offsets of a node's start and end."""
        lines = self.document.lines
        return lines.range(lines.of_node(self.document.path, node))

    def source(self, node: ast.expr) -> str:
        """Return a node's own text."""
        start, end = self.range(node)
        return self.document.text[start:end]

    def statement_at(self, offset: int) -> Statement | None:
        """Find the simple statement around `offset`; None in a compound statement's head or between statements."""
        scope: Scope = self.tree
        block: Sequence[ast.stmt] = self.tree.body
        while True:
            index = bisect_right(block, offset, key=lambda node: self.range(node)[0]) - 1
            if index < 0 or not self._covers([block[index]], offset):
                return None
            node, inner = block[index], blocks(block[index])
            if not inner:
                return self.statement(block, index, scope)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                scope = node
            found = next((each for each in inner if self._covers(each, offset)), None)
            if found is None:
                return None
            block = found

    def statement(self, block: Sequence[ast.stmt], index: int, scope: Scope) -> Statement:
        """Return one statement of a block."""
        start, end = self.range(block[index])
        return Statement(block[index], start, end, block, index, scope)

    def _covers(self, block: Sequence[ast.stmt], offset: int) -> bool:
        return self.range(block[0])[0] <= offset < self.range(block[-1])[1]


def parse(path: str, text: str) -> PythonFile | None:
    """Parse the file; None if it is no Python."""
    try:
        return PythonFile(FileText(path, text), ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of statements inside a compound statement; none for a simple one."""
    found: list[list[ast.stmt]] = []
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            found.append(block)
    parts = (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))
    return found + [part.body for part in parts]


def walk_scope(scope: Scope) -> Iterator[ast.AST]:
    """Yield every node of a function (or module) in the order of the text, without those of functions inside it."""
    waiting: list[ast.AST] = list(reversed(scope.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def loop_around(file: PythonFile, statement: Statement) -> Statement | None:
    """Find the outermost loop around a statement in its function."""
    block: Sequence[ast.stmt] = statement.scope.body
    while True:
        index = bisect_right(block, statement.start, key=lambda node: file.range(node)[0]) - 1
        if index < 0 or block[index] is statement.node:
            return None
        if isinstance(block[index], ast.For | ast.AsyncFor | ast.While):
            return file.statement(block, index, statement.scope)
        within = (each for each in blocks(block[index]) if each[0].lineno <= statement.node.lineno)
        block = max(within, key=lambda each: (each[0].lineno, each[0].col_offset))


def leads_to(file: PythonFile, first: Statement, last: Statement) -> bool:
    """Tell whether a way may lead from one simple statement of a function to another."""
    block: Sequence[ast.stmt] = first.scope.body
    around: list[tuple[ast.stmt, Sequence[ast.stmt]]] = []
    while not around or around[-1][0] is not first.node:
        if not block:
            return True
        index = bisect_right(block, first.start, key=lambda node: file.range(node)[0]) - 1
        around.append((block[index], block[index + 1 :]))
        block = next((each for each in blocks(block[index]) if first.node.lineno <= (each[-1].end_lineno or 0)), [])
    for node, rest in reversed(around):
        again = [] if isinstance(node, ast.If | ast.Match | ast.With | ast.AsyncWith) else [node]
        if any(start <= last.start < end for start, end in map(file.range, [*rest, *again])):
            return True
        if any(isinstance(each, ast.Return | ast.Raise) for each in rest):
            return False
    return False


def insert_after(file: PythonFile, statement: Statement, new: Sequence[str]) -> list[Edit] | None:
    """Insert statements behind the line that `statement` is on, indented as it is; one edit for each.

    In the body of a one-line `if x: statement` they join that line. None when the end of the line cannot be told.
    """
    document, text = file.document, file.document.text
    first, last = _on_one_line(file, statement)
    line_end = document.line_end(last.end)
    if not _REST_OF_LINE.fullmatch(text, last.end, line_end):
        return None
    white = indentation(file, first)
    if white is None:
        return [document.edit(last.end, last.end, f"; {each}") for each in new]
    newline = document.newline(last.end)
    if line_end == len(text):
        return [document.edit(line_end, line_end, f"{newline}{white}{each}") for each in new]
    at = document.next_line(line_end)
    return [document.edit(at, at, f"{white}{each}{newline}") for each in new]


def insert_before(file: PythonFile, statement: Statement, new: Sequence[str]) -> list[Edit] | None:
    """Insert statements in front of `statement`: on lines of their own where it begins its line."""
    document = file.document
    first, _ = _on_one_line(file, statement)
    white = indentation(file, first)
    if white is None or first.start != statement.start:
        return [document.edit(statement.start, statement.start, f"{each}; ") for each in new]
    newline, at = document.newline(statement.start), document.line_start(statement.start)
    return [document.edit(at, at, f"{white}{each}{newline}") for each in new]


def inside(file: PythonFile, statement: Statement, head: str, line: str) -> str | None:
    """Write a compound statement of two lines, indented as the lines around `statement`; None if it has no line."""
    white = indentation(file, statement)
    if white is None:
        return None
    step = "\t" if white.startswith("\t") else "    "
    return f"{head}{file.document.newline(statement.start)}{white}{step}{line}"


def has_its_line(file: PythonFile, statement: Statement) -> bool:
    """Tell whether a statement is on one line, alone."""
    first, last = _on_one_line(file, statement)
    end = file.document.line_end(statement.end)
    return (
        first.start == last.start
        and indentation(file, first) is not None
        and not LINE_END.search(file.document.text, statement.start, statement.end)
        and _REST_OF_LINE.fullmatch(file.document.text, statement.end, end) is not None
    )


def delete(file: PythonFile, statement: Statement) -> list[Edit]:
    """Take a statement out, with its line and that line's comment when it has the line to itself.

    A block that would be left empty gets `pass`.
    """
    document, text = file.document, file.document.text
    block, index = statement.block, statement.index
    if len(block) == 1 and block is not file.tree.body:
        return [document.edit(statement.start, statement.end, "pass")]
    first, last = _on_one_line(file, statement)
    line_end = document.line_end(statement.end)
    alone = first.start == last.start and _REST_OF_LINE.fullmatch(text, statement.end, line_end)
    if alone and indentation(file, first) is not None:
        start, end = document.line_start(statement.start), document.next_line(statement.end)
        if end == line_end and start:
            # The last line of a file that does not end in a line ending: the one before it goes, too.
            return [document.edit(start - len(document.newline(document.line_start(start - 1))), end, "")]
        return [document.edit(start, end, "")]
    if last.start != statement.start:
        return [document.edit(statement.start, file.range(block[index + 1])[0], "")]
    if first.start != statement.start:
        return [document.edit(file.range(block[index - 1])[1], statement.end, "")]
    return [document.edit(statement.start, statement.end, "pass")]


def _on_one_line(file: PythonFile, statement: Statement) -> tuple[Statement, Statement]:
    """Return the first and the last statement of the logical line: `a; b; c`."""
    first = last = statement.index
    while first > 0 and _joined(file, statement.block[first - 1], statement.block[first]):
        first -= 1
    while last + 1 < len(statement.block) and _joined(file, statement.block[last], statement.block[last + 1]):
        last += 1
    block, scope = statement.block, statement.scope
    return file.statement(block, first, scope), file.statement(block, last, scope)


def _joined(file: PythonFile, left: ast.stmt, right: ast.stmt) -> bool:
    gap = file.document.text[file.range(left)[1] : file.range(right)[0]]
    return LINE_END.search(_CONTINUATION.sub("", gap)) is None


def indentation(file: PythonFile, statement: Statement) -> str | None:
    """Return the text in front of the first statement of a line; None if it is not white space alone."""
    text, line_start = file.document.text, file.document.line_start(statement.start)
    before = text[line_start : statement.start]
    if before.strip(" \t\f") or text[:line_start].rstrip("\r\n").endswith("\\"):
        return None
    # A form feed sets Python's idea of the column back to zero.
    return before.rpartition("\f")[2]
