"""Statements by kind: which function runs which."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import run_annotated, run_assign, run_augmented, run_delete, run_scope
from mfsdp_lint.readers.python.eval.blocks import BREAK, CONTINUE
from mfsdp_lint.readers.python.eval.branches import known_truth, nothing, undecided
from mfsdp_lint.readers.python.eval.definitions import run_define_class, run_define_function
from mfsdp_lint.readers.python.eval.handlers import run_assert, run_raise, run_try, run_with
from mfsdp_lint.readers.python.eval.imports import bind_import
from mfsdp_lint.readers.python.eval.loops import run_for, run_while
from mfsdp_lint.readers.python.eval.matching import run_match
from mfsdp_lint.readers.python.eval.missing_imports import import_guarded
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import RUNNERS, Signal, evaluate, run_block
from mfsdp_lint.readers.python.state.outcomes import CannotJoin
from mfsdp_lint.readers.python.state.outline import Unread, Unreadable
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.values.frames import Frame


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> Signal:
    if not isinstance(node.value, ast.Constant):
        evaluate(machine, node.value, frame)
    return None


def _return(machine: Machine, node: ast.Return, frame: Frame) -> Signal:
    value = None if node.value is None else evaluate(machine, node.value, frame)
    machine.returned = None if node.value is None else (frame.node, Text(node.value, frame))
    return ("return", value)


def _if(machine: Machine, node: ast.If, frame: Frame) -> Signal:
    test = node.test
    value = evaluate(machine, test, frame)
    known = known_truth(machine, value, test, frame)
    if known is not None:
        return run_block(machine, node.body if known else node.orelse, frame)
    return undecided(
        machine,
        value,
        lambda: ast.unparse(test),
        lambda: run_block(machine, node.body, frame),
        (lambda: run_block(machine, node.orelse, frame)) if node.orelse else nothing,
    )


def _unreadable(machine: Machine, node: Unreadable, frame: Frame) -> Signal:
    raise CannotJoin


def _import(machine: Machine, node: Any, frame: Frame) -> Signal:
    # (What upstream itself tries to import is taken to be installed with it.)
    upstream = frame.module.name.startswith("megatron.")
    if machine.path.written is None or upstream or not import_guarded(machine, node, frame):
        bind_import(machine, node, frame)
    return None


RUNNERS.update(
    {
        ast.Assign: run_assign,
        ast.AnnAssign: run_annotated,
        ast.AugAssign: run_augmented,
        ast.Delete: run_delete,
        ast.FunctionDef: run_define_function,
        Unread: run_define_function,
        Unreadable: _unreadable,
        ast.AsyncFunctionDef: run_define_function,
        ast.ClassDef: run_define_class,
        ast.Global: run_scope,
        ast.Nonlocal: run_scope,
        ast.Expr: _expression,
        ast.Return: _return,
        ast.If: _if,
        ast.For: run_for,
        ast.AsyncFor: run_for,
        ast.While: run_while,
        ast.Try: run_try,
        ast.Raise: run_raise,
        ast.Assert: run_assert,
        ast.With: run_with,
        ast.AsyncWith: run_with,
        ast.Match: run_match,
        ast.Import: _import,
        ast.ImportFrom: _import,
        ast.Pass: lambda machine, node, frame: None,
        ast.Break: lambda machine, node, frame: BREAK,
        ast.Continue: lambda machine, node, frame: CONTINUE,
    }
)
if hasattr(ast, "TryStar"):
    RUNNERS[ast.TryStar] = run_try
