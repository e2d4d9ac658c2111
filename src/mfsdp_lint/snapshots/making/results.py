"""Results of functions of upstream, from their code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.values.objects import Function
from mfsdp_lint.snapshots.making.annotations import is_plain_or_container
from mfsdp_lint.snapshots.making.encode import UNKNOWN
from mfsdp_lint.snapshots.making.meaning import parameters, stored
from mfsdp_lint.snapshots.snapshot import Node


class Boundless(Exception):
    """The error for a function that may change or return something that cannot be named."""


def result(function: Function) -> Node:
    """Describe the result of a call as a node: None, one of the arguments, or an unknown value that is neither an
    argument nor a part of one.

    Raises Boundless for anything else: a change to a part of an argument is a change to the argument.
    """
    node = function.node
    if not isinstance(node, ast.FunctionDef) or any(map(_yields, _body(node))):
        raise Boundless
    values = [each.value for each in _body(node) if isinstance(each, ast.Return) and each.value is not None]
    if all(isinstance(value, ast.Constant) and value.value is None for value in values):
        return None
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    if len(names) == 1 and names <= {argument.arg for argument in parameters(node)} and not names & set(stored(node)):
        return ["arg", names.pop()]
    if is_plain_or_container(node.returns) or all(map(_is_scalar, values)):
        return UNKNOWN
    raise Boundless


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _yields(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def _is_scalar(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
