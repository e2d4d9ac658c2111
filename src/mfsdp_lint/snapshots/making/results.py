"""What a function of upstream returns, by what is written in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.values.objects import Function
from mfsdp_lint.snapshots.making.annotations import is_plain_or_container
from mfsdp_lint.snapshots.making.encode import UNKNOWN
from mfsdp_lint.snapshots.making.meaning import parameters, stored
from mfsdp_lint.snapshots.snapshot import Node


class Boundless(Exception):
    """Something that cannot be named may change, or may be given back."""


def result(function: Function) -> Node:
    """A node of what a call gives: None, one of the arguments, or something unknown that is none of them nor a part.

    Raises Boundless for anything else: what is done with a part of an argument is done with the argument.
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
    """The nodes of a function without those of the functions in it."""
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
