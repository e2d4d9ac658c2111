"""Names of a configuration at a place in the code: the `cfg` that new assignments begin with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.spelling import usual_quote
from mfsdp_lint.fixes.statements import PythonFile, Scope, Statement, walk_scope


@dataclass(frozen=True, slots=True)
class Step:
    """A step down a configuration; `inner` is the expression that has it (None: an expression with no name)."""

    name: str
    style: Literal["attribute", "key"]
    inner: ast.expr | None


def target_of(file: PythonFile, statement: Statement, anchor: Origin, setting: str, path: str) -> str | None:
    """Write the setting `path` for a place right after `statement`, which sets `setting`:
    "cfg.checkpoint.ckpt_format".

    The statement's own words come first: `cfg.dist.use_megatron_fsdp = True` says that the configuration is `cfg`.
    Where the statement names a part only (`ddp = cfg.ddp; ddp.use_megatron_fsdp = True`), that part's settings are
    written through it, and others through the function's name for the whole. None if that is not certain.
    """
    steps = _steps(file, statement.node, file.document.range(anchor.point)[0])
    words = setting.split(".")
    matched = 0
    while matched < min(len(steps), len(words)) and steps[matched].name == words[-1 - matched]:
        matched += 1
    wanted = path.split(".")
    for depth in range(matched, 0, -1):
        inner = steps[depth - 1].inner
        known = len(words) - depth
        if inner is None or not _plain(inner) or wanted[:known] != words[:known] or len(wanted) == known:
            continue
        styles = [step.style for step in reversed(steps[:depth])]
        return _spell(file.source(inner), wanted[known:], styles, usual_quote(file))
    whole = name_of_whole(file, statement.scope, statement.start, (wanted[0], words[0]))
    return None if whole is None else f"{whole}.{path}"


def name_of_whole(file: PythonFile, scope: Scope, before: int, sections: Sequence[str]) -> str | None:
    """Find the function's name for the configuration whose `sections` it reads or writes before an offset.

    None if it names none, or several.
    """
    for section in sections:
        names = {
            file.source(node.value)
            for node in walk_scope(scope)
            if isinstance(node, ast.Attribute)
            and node.attr == section
            and _plain(node.value)
            and file.range(node)[0] < before
        }
        if len(names) == 1:
            return names.pop()
    return None


def final_return(file: PythonFile, scope: Scope) -> tuple[Statement, str] | None:
    """Find the `return NAME` that ends a function, and the name."""
    if isinstance(scope, ast.Module):
        return None
    # What stands behind it is never reached.
    index = next((index for index, node in enumerate(scope.body) if isinstance(node, ast.Return)), -1)
    last = scope.body[index]
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
        return file.statement(scope.body, index, scope), last.value.id
    return None


def _steps(file: PythonFile, node: ast.stmt, point: int) -> list[Step]:
    """Return the steps from the name that the statement sets up to the configuration's; empty if none is plain."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            start, end = file.range(value)
            inside = _keywords(file, value, point) if start <= point < end else []
            if inside is None:
                return []
            return [Step(name, "attribute", None) for name in inside[:0:-1]] + _attached(inside[:1], target)
        case ast.Expr(value=ast.Call(func=ast.Name("setattr"), args=[owner, ast.Constant(str(name)), _])):
            return [Step(name, "attribute", owner), *_unroll(owner)]
    return []


def _attached(outermost: list[str], target: ast.expr) -> list[Step]:
    return [Step(name, "attribute", target) for name in outermost] + _unroll(target)


def _keywords(file: PythonFile, value: ast.expr, point: int) -> list[str] | None:
    """Return the keyword arguments that lead to an offset through constructor calls, outermost first.

    Empty if the offset is in no call; None if it is in an expression that does not say what it builds. A class begins
    with a capital letter: an ordinary function's use of its arguments is not known here.
    """
    names: list[str] = []
    while isinstance(value, ast.Call):
        callee = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        for keyword in value.keywords:
            start, end = file.range(keyword.value)
            name_start = file.offset(keyword.lineno, keyword.col_offset)
            if keyword.arg is not None and name_start <= point < end:
                break
        else:
            return None
        if not (callee[:1].isupper() or callee == "replace"):
            return None
        names.append(keyword.arg or "")
        if point < start:
            break
        value = keyword.value
    return names


def _unroll(expression: ast.expr) -> list[Step]:
    """Split `cfg.ddp["x"]` into steps, the last word first."""
    steps: list[Step] = []
    while True:
        match expression:
            case ast.Attribute(value=inner, attr=name):
                steps.append(Step(name, "attribute", inner))
            case ast.Subscript(value=inner, slice=ast.Constant(str(name))):
                steps.append(Step(name, "key", inner))
            case _:
                return steps
        expression = inner


def _plain(expression: ast.expr) -> bool:
    """Tell whether evaluating an expression twice is safe: names, attributes, and subscripts by names and literals."""
    match expression:
        case ast.Name():
            return True
        case ast.Attribute(value=inner):
            return _plain(inner)
        case ast.Subscript(value=inner, slice=ast.Constant() | ast.Name()):
            return _plain(inner)
    return False


def _spell(root: str, words: Sequence[str], styles: Sequence[str], quote: str) -> str:
    """Append `words` to `root`, each in the style of the step that it replaces."""
    text = root
    for index, word in enumerate(words):
        style = styles[min(index, len(styles) - 1)]
        text += f"[{quote}{word}{quote}]" if style == "key" else f".{word}"
    return text
