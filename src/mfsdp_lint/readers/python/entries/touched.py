"""Reach of a change of a file's text: all users of the file, or only those that run the functions it touches.

The latter holds where nothing differs but assignments to attributes and entries within functions, as fixes make them:
then no name is bound otherwise, no new call is made, and all other code stays on its line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Key = tuple[str, int, str]
"""A function: its file, its line and its name."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def touched(path: str, old: str, new: str) -> frozenset[Key] | None:
    """Return the old functions of a file whose text or place has changed; None where more than that differs."""
    try:
        before, after = _Outline(old), _Outline(new)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if before.around != after.around or len(before.functions) != len(after.functions):
        return None
    found: set[Key] = set()
    for was, now in zip(before.functions, after.functions, strict=True):
        if was.lineno == now.lineno and before.text(was) == after.text(now):
            continue
        if before.text(was) != after.text(now) and _without_settings(was) != _without_settings(now):
            return None
        found.update((path, each.lineno, each.name) for each in ast.walk(was) if isinstance(each, _Function))
    return frozenset(found)


class _Outline:
    """A module's functions, at its top level and in the classes there, and the code around them, with its places."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.functions: list[_Function] = []
        self.around: list[tuple[object, ...]] = []
        for node in ast.parse(text).body:
            self._add(node)

    def text(self, node: ast.stmt) -> list[str]:
        """Return the lines of a statement."""
        return self._lines[node.lineno - 1 : node.end_lineno]

    def _add(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append(node)
                # Where it begins may differ: that touches the function, and not what is around it.
                parts = (*node.decorator_list, node.args, *filter(None, [node.returns]))
                self.around.append((node.name, *map(ast.dump, parts)))
            case ast.ClassDef():
                self.around.append((node.lineno, *map(_placed, (*node.decorator_list, *node.bases, *node.keywords))))
                for inner in node.body:
                    self._add(inner)
            case _:
                self.around.append((_placed(node),))


def _placed(node: ast.AST) -> str:
    """Dump a piece of the tree, with its place."""
    return ast.dump(node, include_attributes=True)


def _without_settings(function: _Function) -> list[str]:
    """Dump a function without its assignments to attributes and entries that call nothing."""
    return [ast.dump(node) if not isinstance(node, ast.stmt) else type(node).__name__ for node in _kept(function)]


def _kept(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign) and _sets(child):
            continue
        yield child
        if isinstance(child, ast.stmt):
            yield from _kept(child)


def _sets(node: ast.Assign) -> bool:
    named = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    makes = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return named and not any(isinstance(inner, makes) for inner in ast.walk(node))
