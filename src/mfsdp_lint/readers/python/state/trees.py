"""Walks through syntax trees. `ast.walk` asks each node for each of its fields; these ask for what a node has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from mfsdp_lint.readers.python.state.parsing import Unread, read_body

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of statements in which further statements are."""

_LEAVES = frozenset((ast.Name, ast.Constant))
"""Most nodes: nothing is below them but the context of a name."""

_NO_NODES = frozenset((int, str, type(None)))
"""The kinds of most values in a node: its place, and names."""


def nodes_in(*trees: ast.AST, without: tuple[type[ast.AST], ...] = (), saying: str = "") -> list[ast.AST]:
    """Return nodes and all that is below them, as `ast.walk` does, but for the contexts of names.

    Nothing is below those of the types `without`. Function bodies that were not read yet are read only where they have
    the word `saying`.
    """
    found = list(trees)
    for node in found:
        if type(node) in _LEAVES or isinstance(node, without):
            continue
        if type(node) is Unread and saying in node.cut.text:
            read_body(node)
        for name, value in vars(node).items():
            if type(value) is list:
                found += [each for each in value if isinstance(each, ast.AST)]
            elif type(value) not in _NO_NODES and name != "ctx" and isinstance(value, ast.AST):
                found.append(value)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, as `ast.iter_child_nodes` does, but for the contexts of names."""
    if type(node) in _LEAVES:
        return []
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif type(value) not in _NO_NODES and name != "ctx" and isinstance(value, ast.AST):
            found.append(value)
    return found


def functions_in(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions in a piece of code, and the functions in these; lambdas are none."""
    pending: list[ast.AST] = [tree]
    for node in pending:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        for name in _BLOCKS:
            block = getattr(node, name, None)
            pending += block if isinstance(block, list) else ()  # an expression has its own kind of body


@lru_cache(maxsize=8192)
def names_in(tree: ast.AST) -> frozenset[str]:
    """Return the names in a piece of code."""
    return frozenset(node.id for node in nodes_in(tree) if isinstance(node, ast.Name))
