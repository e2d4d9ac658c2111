"""Conditional edits of Python: a value for callers who turn FSDP on, where `cfg.dist.use_megatron_fsdp = fsdp` says so.

What the line that decides says is the condition: `"fsdp_dtensor" if fsdp else "torch_dist"`.
"""

from __future__ import annotations

import ast

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes import spelling
from mfsdp_lint.fixes.editor import Switch
from mfsdp_lint.fixes.statements import PythonFile, Statement, has_its_line, inside
from mfsdp_lint.fixes.written import statement_of, value_at, write_of


def replace_value_where(file: PythonFile, origin: Origin, path: str, value: Plain, switch: Switch) -> list[Edit] | None:
    """Write a conditional expression where `origin` says that the value stands, which remains for all others."""
    place, asked = statement_of(file, origin), condition(file, switch)
    old = value_at(file, place, origin.point, path) if place else None
    if asked is None or old is None:
        return None
    text = file.document.text[slice(*old)]
    parsed = _parsed(text)
    if parsed is None or not _can_be_asked(parsed):
        return None
    new = spelling.spell(value, text[-1] if text[-1] in "'\"" else spelling.usual_quote(file))
    return [file.document.edit(*old, choice(asked, new, text))]


def delete_write_where(file: PythonFile, origin: Origin, path: str, switch: Switch) -> list[Edit] | None:
    """Let the statement that `origin` says set the setting be for all others: `if not fsdp:` in front of it."""
    from mfsdp_lint.fixes.concrete import read

    place, asked = statement_of(file, origin), condition(file, switch)
    concrete = read(file, place) if place else None
    if place is None or concrete is None or asked is None or not has_its_line(file, place):
        return None
    write = write_of(concrete.writes(), path.rpartition(".")[2], file.document.range(origin.point))
    if write is None or write.where != concrete.whole:
        return None
    text = file.document.text[place.start : place.end]
    new = inside(file, place, f"if {_negated(asked)}:", text)
    return None if new is None else [file.document.edit(place.start, place.start, new.removesuffix(text))]


def choice(asked: str, new: str, otherwise: str) -> str:
    """Write an expression that is `new` where a condition holds: `"fsdp_dtensor" if fsdp else "torch_dist"`."""
    match new, otherwise:
        case "True", "False":
            is_bool = isinstance(_parsed(asked), ast.Compare | ast.UnaryOp)
            return asked if is_bool else f"bool({asked})"
        case "False", "True":
            return _negated(asked)
        case "False", _ if otherwise == asked:
            return new  # where it is not so, it is off already
    if asked.startswith("not "):
        asked, new, otherwise = _negated(asked), otherwise, new
    return f"{new} if {asked} else {otherwise}"


def condition(file: PythonFile, switch: Switch) -> str | None:
    """Find the expression that selects the callers of one side of a switch, and that can be evaluated again.

    This is the value that the statement sets or, for `if fsdp: cfg.dist.use_megatron_fsdp = True`, the branch's test.
    None if neither can be evaluated again.
    """
    place = statement_of(file, switch.origin)
    asked = _asked(file, place, switch.origin) if place else None
    return asked if asked is None or switch.on else _negated(asked)


def _asked(file: PythonFile, place: Statement, switch: Origin) -> str | None:
    from mfsdp_lint.fixes.concrete import read

    concrete = read(file, place)
    point = file.document.range(switch.point)
    write = write_of(concrete.writes(), "", point) if concrete else None
    start, end = concrete.places[write.value] if concrete and write else point
    text = file.document.text[start:end]
    parsed = _parsed(text)
    if isinstance(parsed, ast.Constant):
        branch = next(
            (node for node in place.scope.body if isinstance(node, ast.If) and node.body is place.block), None
        )
        text, parsed = (file.source(branch.test), branch.test) if branch else (text, None)
    match parsed:
        case ast.Call(func=ast.Name("bool"), args=[inner], keywords=[]):
            text, parsed = ast.get_source_segment(text, inner) or text, inner
    return text if parsed is not None and _can_be_asked(parsed) else None


def _negated(asked: str) -> str:
    match _parsed(asked):
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return f"not {asked}"
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ast.get_source_segment(asked, inner) or f"not ({asked})"
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = [ast.get_source_segment(asked, each) for each in (left, right)]
            return f"{sides[0]} != {sides[1]}"
    return f"not ({asked})"


def _can_be_asked(node: ast.expr) -> bool:
    """Tell whether an expression fits into a conditional expression as it is, and has no effect if evaluated again."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=inner) | ast.UnaryOp(op=ast.Not(), operand=inner):
            return _can_be_asked(inner)
        case ast.Subscript(value=inner, slice=key):
            return _can_be_asked(inner) and _can_be_asked(key)
        case ast.Compare(left=left, comparators=others):
            return all(map(_can_be_asked, (left, *others)))
        case ast.BoolOp(values=values):
            return all(map(_can_be_asked, values))
    return False


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
