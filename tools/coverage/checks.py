"""The checks of a Python file: what it asserts, raises and warns of."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["assert", "raise", "warning"]

Lines = tuple[int, int]
"""The first and the last line."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check in one version.

    `function` is the dotted name of the function or class around it ("" at the top of a file). `condition` is the
    condition that an assertion requires; for other checks, the condition under which they are reached: the nearest
    `if`, `else` or `except` ("" if there is none). `message` is the text, with upstream's expressions in braces. `own`
    are its lines (for a warning: with the assignments beside it, which it reports), `guard` those of the head of the
    `if` whose body contains it.
    """

    function: str
    kind: Kind
    condition: str
    message: str
    own: Lines
    guard: Lines | None = None

    def is_at(self, line: int) -> bool:
        """Tell whether a line is one of the check, or of the `if` before it."""
        return any(first <= line <= last for first, last in (self.own, self.guard or self.own))

    def is_in(self, functions: Collection[str]) -> bool:
        """Tell whether the check stands in one of these functions, or in a function inside of one."""
        parts = self.function.split(".")
        return any(".".join(parts[:length]) in functions for length in range(1, len(parts) + 1))


def checks_of(text: str) -> list[Check]:
    """Return the checks of a file, in its order. Raises SyntaxError."""
    return sorted(_in(ast.parse(text).body, _Around()), key=lambda check: check.own)


@dataclass(frozen=True, slots=True)
class _Around:
    """Context of a statement: the function, the condition and the guard around it."""

    function: str = ""
    condition: str = ""
    guard: Lines | None = None

    def inside(self, name: str) -> _Around:
        return _Around(f"{self.function}.{name}".strip("."))

    def under(self, condition: str, guard: Lines | None = None) -> _Around:
        return _Around(self.function, condition, guard)


def _in(body: list[ast.stmt], around: _Around) -> Iterator[Check]:
    for number, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _warns(statement.value):
            yield _check(_with_assignments(body, number), around, "warning", around.condition, _said(statement.value))
        else:
            yield from _statement(statement, around)


def _with_assignments(body: list[ast.stmt], number: int) -> Lines:
    """Return the lines of a statement and of the assignments right before and after it."""
    first = last = number
    while first > 0 and isinstance(body[first - 1], ast.Assign):
        first -= 1
    while last + 1 < len(body) and isinstance(body[last + 1], ast.Assign):
        last += 1
    return body[first].lineno, _last(body[last])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _statement(statement: ast.stmt, around: _Around) -> Iterator[Check]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from _in(statement.body, around.inside(statement.name))
        case ast.If(test=test):
            yield from _in(
                statement.body, around.under(_text(test), (statement.lineno, test.end_lineno or test.lineno))
            )
            yield from _in(statement.orelse, around.under(f"not ({_text(test)})"))
        case ast.Try():
            yield from _in([*statement.body, *statement.orelse, *statement.finalbody], around)
            for handler in statement.handlers:
                caught = f"except {_text(handler.type)}" if handler.type else "except"
                yield from _in(handler.body, around.under(caught))
        case ast.For() | ast.AsyncFor() | ast.While():
            yield from _in([*statement.body, *statement.orelse], around)
        case ast.With() | ast.AsyncWith():
            yield from _in(statement.body, around)
        case ast.Match():
            for each in statement.cases:
                yield from _in(each.body, around.under(f"{_text(statement.subject)} is {ast.unparse(each.pattern)}"))
        case ast.Assert(test=test, msg=message):
            yield _check((statement.lineno, _last(statement)), around, "assert", _text(test), message)
        case ast.Raise(exc=error):
            said = next(iter(error.args), None) if isinstance(error, ast.Call) else error
            yield _check((statement.lineno, _last(statement)), around, "raise", around.condition, said)


def _check(own: Lines, around: _Around, kind: Kind, condition: str, message: ast.expr | None) -> Check:
    return Check(around.function, kind, condition, _message(message), own, around.guard)


def _warns(call: ast.Call) -> bool:
    """Recognise `warnings.warn`, `logger.warning`, `log_single_rank(_, logging.WARNING)`, `print("WARNING: …")`."""
    name = _text(call.func).rpartition(".")[2]
    levels = {_text(argument).rpartition(".")[2] for argument in call.args}
    said = _said(call)
    return "warn" in name or "WARNING" in levels or (said is not None and _message(said).lower().startswith("warn"))


def _said(call: ast.Call) -> ast.expr | None:
    """Find the argument that is a text; None if there is none."""
    return next((argument for argument in call.args if _message(argument) != _text(argument)), None)


def _message(node: ast.expr | None) -> str:
    """Return a text with its expressions in braces; any other expression as it is written."""
    match node:
        case None:
            return ""
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_message(value) for value in values)
        case ast.FormattedValue(value=value):
            return f"{{{_text(value)}}}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _message(left) + _message(right)
        case ast.BinOp(left=ast.Constant() as left, op=ast.Mod()):
            return _message(left)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "strip")):
            return _message(value)
        case _:
            return _text(node)


def _text(node: ast.AST | None) -> str:
    return "" if node is None else ast.unparse(node)
