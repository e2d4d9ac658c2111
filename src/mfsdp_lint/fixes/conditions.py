"""Conditional edits of Python: a value for callers who turn FSDP on, where `cfg.dist.use_megatron_fsdp = fsdp` says so.

What the line that decides says is the condition: `"fsdp_dtensor" if fsdp else "torch_dist"`.
"""

from __future__ import annotations

import ast

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes import roots, spelling
from mfsdp_lint.fixes.editor import Assignments, Old
from mfsdp_lint.fixes.statements import PythonFile, Statement, insert_after
from mfsdp_lint.fixes.written import statement_of, value_at, write_of


def replace_value_where(file: PythonFile, origin: Origin, path: str, value: Plain, switch: Origin) -> list[Edit] | None:
    """Write a conditional expression where `origin` says that the value stands, which remains for all others."""
    place, decided = statement_of(file, origin), statement_of(file, switch)
    condition = _condition(file, decided, switch) if decided else None
    old = value_at(file, place, origin.point, path) if place else None
    if condition is None or old is None:
        return None
    text = file.document.text[slice(*old)]
    parsed = _parsed(text)
    if parsed is None or not _can_be_asked(parsed):
        return None
    new = spelling.spell(value, text[-1] if text[-1] in "'\"" else spelling.usual_quote(file))
    return [file.document.edit(*old, f"{new} if {condition} else {text}")]


def assign_after_where(file: PythonFile, anchor: Origin, setting: str, new: Assignments, old: Old) -> list[Edit] | None:
    """Assign settings on the lines behind `anchor`, each what it was (`old`, or itself) where that line is not on."""
    place = statement_of(file, anchor)
    condition = _condition(file, place, anchor) if place else None
    if place is None or condition is None:
        return None
    lines: list[str] = []
    quote = spelling.usual_quote(file)
    for path, value in new:
        target = None if path.startswith("env.") else roots.target_of(file, place, anchor, setting, path)
        if target is None:
            return None
        otherwise = spelling.spell(old[path], quote) if path in old else target
        lines.append(f"{target} = {spelling.spell(value, quote)} if {condition} else {otherwise}")
    return insert_after(file, place, lines)


def _condition(file: PythonFile, place: Statement, switch: Origin) -> str | None:
    """What a statement sets, where it is something that callers decide and that can be asked again."""
    from mfsdp_lint.fixes.concrete import read

    concrete = read(file, place)
    point = file.document.range(switch.point)
    write = write_of(concrete.writes(), "", point) if concrete else None
    start, end = concrete.places[write.value] if concrete and write else point
    text = file.document.text[start:end]
    parsed = _parsed(text)
    return text if parsed is not None and not isinstance(parsed, ast.Constant) and _can_be_asked(parsed) else None


def _can_be_asked(node: ast.expr) -> bool:
    """Whether it may stand in a conditional expression as it is, and changes nothing when it is asked again."""
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
