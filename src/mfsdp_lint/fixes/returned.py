"""The end of a function that does not end in `return NAME`.

A configuration that it hands straight on, `return make()`, gets a name, so that more can be written into it. Into one
that it is given it writes behind its last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.fixes.roots import name_of_whole
from mfsdp_lint.fixes.statements import PythonFile, Scope, Statement, insert_after, walk_scope
from mfsdp_lint.megatron.vocabulary.deciding import BY_SECTION

NAMES = ("cfg", "config")
"""Names of configurations, the usual one first."""


def named(file: PythonFile, scope: Scope) -> tuple[Statement, str] | None:
    """Find the `return CALL` that ends a function, on lines of its own, and a name that is free there."""
    last = scope.body[-1]
    if isinstance(scope, ast.Module) or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return None
    used = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}
    name = next((each for each in NAMES if each not in used), None)
    statement = file.statement(scope.body, len(scope.body) - 1, scope)
    before = file.document.text[file.document.line_start(statement.start) : statement.start]
    return None if name is None or before.strip() else (statement, name)


def assign(file: PythonFile, statement: Statement, name: str, lines: Sequence[str]) -> list[Edit] | None:
    """Write `return make()` as `cfg = make()`, the lines, and `return cfg`."""
    start = statement.start
    behind = insert_after(file, statement, [*lines, f"return {name}"])
    return behind and [file.document.edit(start, start + len("return"), f"{name} ="), *behind]


def given(file: PythonFile, scope: Scope) -> tuple[Statement, str] | None:
    """Find the last statement of a function that returns nothing, and the parameter used as a configuration."""
    if isinstance(scope, ast.Module) or any(isinstance(node, ast.Return | ast.Yield) for node in walk_scope(scope)):
        return None
    statement = file.statement(scope.body, len(scope.body) - 1, scope)
    name = name_of_whole(file, scope, statement.end, tuple(BY_SECTION))
    parameters = {each.arg for each in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)}
    return (statement, name) if name in parameters else None
