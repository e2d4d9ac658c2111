"""The checks of a Python file: what it asserts, raises and warns of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["assert", "raise", "warning"]

Lines = tuple[int, int]
"""The first and the last line."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check, as one version has it.

    `function` is the dotted name of the function or class that it stands in ("" at the top of a file). `condition` is
    what an assertion asks for; of the others, what holds where they are reached: the nearest `if`, `else` or `except`
    ("" where there is none). `message` is the text, with upstream's expressions in braces. `own` are its lines (of a
    warning: with the assignments beside it, which it tells of), `guard` those of the head of the `if` whose body it
    stands in.
    """

    function: str
    kind: Kind
    condition: str
    message: str
    own: Lines
    guard: Lines | None = None

    def is_at(self, line: int) -> bool:
        """Whether a line is one of the check, or of the `if` before it."""
        return any(first <= line <= last for first, last in (self.own, self.guard or self.own))


def checks_of(text: str) -> list[Check]:
    """The checks of a file, in its order. Raises SyntaxError."""
    return sorted(_in(ast.parse(text).body, _Around()), key=lambda check: check.own)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a statement stands in."""

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
    """The lines of a statement and of the assignments right before and after it."""
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
    """`warnings.warn`, `logger.warning`, `log_single_rank(logger, logging.WARNING, …)`, `print("WARNING: …")`."""
    name = _text(call.func).rpartition(".")[2]
    levels = {_text(argument).rpartition(".")[2] for argument in call.args}
    said = _said(call)
    return "warn" in name or "WARNING" in levels or (said is not None and _message(said).lower().startswith("warn"))


def _said(call: ast.Call) -> ast.expr | None:
    """The argument that is a text."""
    return next((argument for argument in call.args if _message(argument) != _text(argument)), None)


def _message(node: ast.expr | None) -> str:
    """A text with its expressions in braces; what is no text, as it is written."""
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
