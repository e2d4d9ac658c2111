"""The statements that give settings their values: assignments, and what takes a variable of the environment back."""

from __future__ import annotations

import ast
from collections.abc import Callable

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes import spelling
from mfsdp_lint.fixes.editor import ABSENT, Absent, Assignments
from mfsdp_lint.fixes.statements import PythonFile, insert_before

PROCESS, RECIPE = "env.", "env_vars."

Target = Callable[[str], str | None]
"""How a setting of the configuration is written at some place; None where that is not certain."""


def target(file: PythonFile, path: str, in_configuration: Target) -> str | None:
    """Write the left side of the assignment: a variable of the process, or a setting of the configuration."""
    if path.startswith(PROCESS):
        return f"{_environ(file)}[{_name(file, path, PROCESS)}]"
    return in_configuration(path)


def line(file: PythonFile, path: str, value: Plain | Absent, in_configuration: Target) -> str | None:
    """Write the statement that gives a setting its value."""
    if value is ABSENT:
        return _taken_back(file, path, in_configuration)
    written = target(file, path, in_configuration)
    return None if written is None else f"{written} = {spelling.spell(value, spelling.usual_quote(file))}"


def imports(file: PythonFile, new: Assignments) -> list[Edit]:
    """Make the edits for the import that statements for these settings need and the file lacks."""
    if not any(path.startswith(PROCESS) for path, _ in new) or _imported(file):
        return []
    body = file.tree.body
    first = next((index for index, node in enumerate(body) if not _comes_first(node)), len(body) - 1)
    return insert_before(file, file.statement(body, first, file.tree), ["import os"]) or []


def _taken_back(file: PythonFile, path: str, in_configuration: Target) -> str | None:
    if path.startswith(PROCESS):
        return f"{_environ(file)}.pop({_name(file, path, PROCESS)}, None)"
    if path.startswith(RECIPE):
        holder = in_configuration(RECIPE[:-1])
        return holder and f"{holder}.pop({_name(file, path, RECIPE)}, None)"
    return None


def _name(file: PythonFile, path: str, section: str) -> str:
    return spelling.spell(path.removeprefix(section), spelling.usual_quote(file))


def _environ(file: PythonFile) -> str:
    return _imported(file) or "os.environ"


def _imported(file: PythonFile) -> str | None:
    """Find the name by which the file's imports reach `os.environ`; None if they do not."""
    for node in file.tree.body:
        match node:
            case ast.Import(names=names):
                found = [name.asname or name.name for name in names if name.name == "os"]
                if found:
                    return f"{found[0]}.environ"
            case ast.ImportFrom(module="os", names=names):
                found = [name.asname or name.name for name in names if name.name == "environ"]
                if found:
                    return found[0]
    return None


def _comes_first(node: ast.stmt) -> bool:
    """Tell whether a statement has to precede all imports: the docstring, or an import from `__future__`."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
            return True
    return False
