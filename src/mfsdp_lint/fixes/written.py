"""The piece of a Python file that gives a setting its value: found from an origin."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.fixes.statements import PythonFile, Scope, Statement

if TYPE_CHECKING:
    from mfsdp_lint.fixes.concrete import Range, Write


def statement_of(file: PythonFile, origin: Origin) -> Statement | None:
    """Find the simple statement that an origin lies in."""
    return file.statement_at(file.document.range(origin.point)[0])


def write_of(writes: Iterable[Write], name: str, point: Range) -> Write | None:
    """Find the write of `name` at a place: the smallest around it, or the only one inside it.

    A piece that is exactly the place counts under any name: the argument `fsdp=True` of a helper.
    """
    every = list(writes)
    named = [write for write in every if write.name == name]
    around = [write for write in named if write.where[0] <= point[0] and point[1] <= write.where[1]]
    if around:
        return min(around, key=lambda write: write.where[1] - write.where[0])
    inside = [write for write in named if point[0] <= write.where[0] and write.where[1] <= point[1]]
    if len(inside) == 1:
        return inside[0]
    return next((write for write in every if write.item and write.where == point), None)


def value_at(file: PythonFile, place: Statement, where: Span, path: str) -> Range | None:
    """Return the offsets of a setting's value, a literal, a name or a subscript; None if that is not certain."""
    import libcst as cst

    from mfsdp_lint.fixes.concrete import read

    concrete = read(file, place)
    if concrete is None:
        return None
    plain = (cst.SimpleString, cst.ConcatenatedString, cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.Subscript)
    point = file.document.range(where)
    if names_many(place.node):
        return None
    if any(isinstance(node, plain) and concrete.places[node] == point for node in concrete.nodes()):
        return point
    write = write_of(concrete.writes(), path.rpartition(".")[2], point)
    if write is None:
        return None
    old = write.value
    number = isinstance(old, cst.UnaryOperation) and isinstance(old.expression, cst.Integer | cst.Float)
    return concrete.places[old] if isinstance(old, plain) or number else None


def is_parameter(scope: Scope, name: str) -> bool:
    """Tell whether a name is that of a parameter of a function."""
    if isinstance(scope, ast.Module):
        return False
    given = scope.args
    return any(each.arg == name for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def names_many(node: ast.stmt) -> bool:
    """Tell whether a statement sets a setting whose name is computed: `setattr(section, name, value)`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name("setattr"), args=[_, name, _])):
            return not isinstance(name, ast.Constant)
        case ast.Assign(targets=[ast.Subscript(slice=key)]):
            return not isinstance(key, ast.Constant)
    return False
