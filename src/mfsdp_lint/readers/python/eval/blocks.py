"""Running statements in order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from mfsdp_lint.readers.python.state.calling import Signal, run_block
from mfsdp_lint.readers.python.state.generators import GeneratorCall
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Frame, Module

Made = TypeVar("Made")


BREAK = ("break", None)


CONTINUE = ("continue", None)


class Leave(Exception):
    """A loop or `with` body that runs inside a generator leaves it."""

    def __init__(self, signal: Signal, loop: GeneratorCall) -> None:
        super().__init__()
        self.signal = signal
        self.loop = loop


def run_isolated(interp: Interpreter, body: list[ast.stmt], frame: Frame) -> None:
    """Run a module's or class's body outside of any recipe: what it makes is shared, and nothing undoes it.

    A statement that cannot be run leaves the names it would bind unknown; the others run on.
    """

    def run() -> None:
        for statement in body:
            try:
                run_block(interp, [statement], frame)
            except Raised:
                for name in bound_names(statement):
                    frame.fields.setdefault(name, interp.unknown(name))
            except (CannotJoin, OutOfSteps, RecursionError):
                for name in bound_names(statement):
                    frame.fields[name] = interp.unknown(name)

    isolated(interp, run, frame.module)


def bound_names(statement: ast.AST) -> list[str]:
    """List the names that a statement binds, wherever in it."""
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return names


def isolated(interp: Interpreter, make: Callable[[], Made], module: Module | None = None) -> Made:
    """Evaluate something outside of any recipe: what it makes is shared, and nothing undoes it.

    It is part of the top level of `module`, of the one at hand where none is named.
    """
    with interp.aside(module):
        return make()


def head(node: ast.stmt) -> str:
    """Return the first line of a statement: its words describe a condition, never its line number, which edits move."""
    return ast.unparse(node).partition("\n")[0]
