"""New assignments in Python: behind a statement, in front of the `return`, or for those who turn something on.

They begin with the name that the configuration has there, `cfg`. A configuration that a function hands straight on,
`return make()`, gets a name, so that more can be written into it. A function that returns nothing writes into the
configuration that it is given, behind its last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from operator import itemgetter
from typing import Literal

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.editor import ABSENT, Absent, Assignments, Old, Switch
from mfsdp_lint.fixes.expressions import choice, condition, names_many, spell_python, statement_of, usual_quote
from mfsdp_lint.fixes.statements import (
    PythonFile,
    Scope,
    Statement,
    insert_after,
    insert_before,
    inside,
    leads_to,
    loop_around,
    walk_scope,
)
from mfsdp_lint.megatron.vocabulary.deciding import BY_SECTION

PROCESS, RECIPE = "env.", "env_vars."

Target = Callable[[str], str | None]
"""How a setting of the configuration is written at some place; None where that is not certain."""


def left_side(file: PythonFile, path: str, in_configuration: Target) -> str | None:
    """Write the left side of the assignment: a variable of the process, or a setting of the configuration."""
    if path.startswith(PROCESS):
        return f"{_environ(file)}[{_name(file, path, PROCESS)}]"
    return in_configuration(path)


def assignment_line(file: PythonFile, path: str, value: Plain | Absent, in_configuration: Target) -> str | None:
    """Write the statement that gives a setting its value."""
    if value is ABSENT:
        if path.startswith(PROCESS):
            return f"{_environ(file)}.pop({_name(file, path, PROCESS)}, None)"
        if path.startswith(RECIPE):
            holder = in_configuration(RECIPE[:-1])
            return holder and f"{holder}.pop({_name(file, path, RECIPE)}, None)"
        return None
    written = left_side(file, path, in_configuration)
    return None if written is None else f"{written} = {spell_python(value, usual_quote(file))}"


def import_edits(file: PythonFile, new: Assignments) -> list[Edit]:
    """Make the edits for the import that statements for these settings need and the file lacks."""
    if not any(path.startswith(PROCESS) for path, _ in new) or _imported(file):
        return []
    body = file.tree.body
    first = next((index for index, node in enumerate(body) if not _comes_first(node)), len(body) - 1)
    return insert_before(file, file.statement(body, first, file.tree), ["import os"]) or []


def _name(file: PythonFile, path: str, section: str) -> str:
    return spell_python(path.removeprefix(section), usual_quote(file))


def _environ(file: PythonFile) -> str:
    return _imported(file) or "os.environ"


def _imported(file: PythonFile) -> str | None:
    """Find the name by which the file's imports reach `os.environ`; None if they do not."""
    for node in file.tree.body:
        match node:
            case ast.Import(names=names):
                found = [name.asname or name.name for name in names if name.name == "os"]
                if found:
                    return f"{found[0]}.environ"
            case ast.ImportFrom(module="os", names=names):
                found = [name.asname or name.name for name in names if name.name == "environ"]
                if found:
                    return found[0]
    return None


def _comes_first(node: ast.stmt) -> bool:
    """Tell whether a statement has to precede all imports: the docstring, or an import from `__future__`."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
            return True
    return False


@dataclass(frozen=True, slots=True)
class PathStep:
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
    words = setting.split(".")
    every = _steps(file, statement.node, file.document.range(anchor.point)[0])
    matched, steps = max(((_matched(each, words), each) for each in every), key=itemgetter(0), default=(0, []))
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


def _matched(steps: Sequence[PathStep], words: Sequence[str]) -> int:
    """Count the steps that are the last words of a setting."""
    pairs = zip(steps, reversed(words), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].name == pair[1], pairs))


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


def final_returns(file: PythonFile, scope: Scope) -> list[tuple[Statement, str]]:
    """Find every `return NAME` of a function that ends with one, and the names; none where it returns anything else.

    A way that returns nothing has no configuration.
    """
    # What stands behind it is never reached.
    end = next((node for node in scope.body if isinstance(node, ast.Return)), scope.body[-1])
    if isinstance(scope, ast.Module):
        return []
    found: list[tuple[Statement, str]] = []
    for node in walk_scope(scope):
        if not isinstance(node, ast.Return) or node.lineno > (end.end_lineno or end.lineno) or _is_nothing(node.value):
            continue
        statement = file.statement_at(file.range(node)[0])
        if statement is None or not isinstance(node.value, ast.Name):
            return []
        found.append((statement, node.value.id))
    ends = isinstance(end, ast.Return) or not _goes_on(end)
    return found if ends else []


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _goes_on(last: ast.stmt) -> bool:
    """Tell whether a way leads behind a function's last statement."""
    match last:
        case ast.Return() | ast.Raise():
            return False
        case ast.If(body=body, orelse=orelse):
            return not orelse or _goes_on(body[-1]) or _goes_on(orelse[-1])
        case ast.With(body=body):
            return _goes_on(body[-1])
    return True


def _steps(file: PythonFile, node: ast.stmt, point: int) -> list[list[PathStep]]:
    """Return the steps from each name that the statement sets up to the configuration's; empty if none is plain."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            targets = [target]
        case ast.Expr(value=ast.Call(func=ast.Name("setattr"), args=[owner, ast.Constant(str(name)), _])):
            return [[PathStep(name, "attribute", owner), *_unroll(owner)]]
        case _:
            return []
    start, end = file.range(value)
    inside = _keywords(file, value, point) if start <= point < end else []
    if inside is None:
        return []
    within = [PathStep(name, "attribute", None) for name in inside[:0:-1]]
    every = (each for target in targets for each in _single(target))
    return [within + _attached(inside[:1], target) for target in every]


def _single(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target


def _attached(outermost: list[str], target: ast.expr) -> list[PathStep]:
    return [PathStep(name, "attribute", target) for name in outermost] + _unroll(target)


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
            name_start = file.range(keyword)[0]
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


def _unroll(expression: ast.expr) -> list[PathStep]:
    """Split `cfg.ddp["x"]` into steps, the last word first."""
    steps: list[PathStep] = []
    while True:
        match expression:
            case ast.Attribute(value=inner, attr=name):
                steps.append(PathStep(name, "attribute", inner))
            case ast.Subscript(value=inner, slice=ast.Constant(str(name))):
                steps.append(PathStep(name, "key", inner))
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


NAMES = ("cfg", "config")
"""Names of configurations, the usual one first."""


def unnamed_return(file: PythonFile, scope: Scope) -> tuple[Statement, str] | None:
    """Find the `return CALL` that ends a function, on lines of its own, and a name that is free there."""
    last = scope.body[-1]
    if isinstance(scope, ast.Module) or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return None
    if any(
        isinstance(node, ast.Return) and node is not last and not _is_nothing(node.value) for node in walk_scope(scope)
    ):
        return None
    used = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}
    name = next((each for each in NAMES if each not in used), None)
    statement = file.statement(scope.body, len(scope.body) - 1, scope)
    before = file.document.text[file.document.line_start(statement.start) : statement.start]
    return None if name is None or before.strip() else (statement, name)


def assign_to_name(file: PythonFile, statement: Statement, name: str, lines: Sequence[str]) -> list[Edit] | None:
    """Write `return make()` as `cfg = make()`, the lines, and `return cfg`."""
    start = statement.start
    behind = insert_after(file, statement, [*lines, f"return {name}"])
    return behind and [file.document.edit(start, start + len("return"), f"{name} ="), *behind]


def given_configuration(file: PythonFile, scope: Scope) -> tuple[Statement, str] | None:
    """Find the last statement of a function that returns nothing, and the parameter used as a configuration."""
    if isinstance(scope, ast.Module) or any(isinstance(node, ast.Return | ast.Yield) for node in walk_scope(scope)):
        return None
    statement = file.statement(scope.body, len(scope.body) - 1, scope)
    name = name_of_whole(file, scope, statement.end, tuple(BY_SECTION))
    parameters = {each.arg for each in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)}
    return (statement, name) if name in parameters else None


Insert = Callable[[Sequence[str]], list[Edit] | None]
"""Puts statements in a place."""


def assign_after(file: PythonFile, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
    """Assign settings on the lines behind `anchor`, the statement that sets `setting`, by the same configuration.

    Behind the loop where that statement sets whatever a table says.
    """
    place = statement_of(file, anchor)
    if place is None:
        return None
    target = partial(target_of, file, place, anchor, setting)
    written = [assignment_line(file, path, value, target) for path, value in new]
    loop = loop_around(file, place)
    if loop is not None and (names_many(place.node) or not _varies(loop.node, written)):
        place = loop
    return _inserted(file, new, written, partial(insert_after, file, place))


def _varies(loop: ast.stmt, written: Sequence[str | None]) -> bool:
    """Tell whether statements name anything that a loop binds, so that each turn writes another configuration."""
    bound = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    named = (node for line in written if line for node in ast.walk(ast.parse(line)))
    return any(isinstance(node, ast.Name) and node.id in bound for node in named)


def assign_after_where(
    file: PythonFile, anchor: Origin, setting: str, switch: Switch, new: Assignments, old: Old
) -> list[Edit] | None:
    """Assign settings on the lines behind `anchor`, each what it was (`old`, or itself) for others."""
    place, asked = statement_of(file, anchor), condition(file, switch)
    if place is None or asked is None or any(path == setting for path, _ in new):
        return None  # (what is the value itself says nothing of who turned something on)
    written: list[str | None] = []
    for path, value in new:
        target = left_side(file, path, partial(target_of, file, place, anchor, setting))
        if value is ABSENT:
            line = assignment_line(file, path, value, partial(target_of, file, place, anchor, setting))
            written.append(line and inside(file, place, f"if {asked}:", line))
        elif target is None or (path.startswith(PROCESS) and path not in old):
            return None
        else:
            quote = usual_quote(file)
            otherwise = spell_python(old[path], quote) if path in old else target
            written.append(f"{target} = {choice(asked, spell_python(value, quote), otherwise)}")
    return _inserted(file, new, written, partial(insert_after, file, place))


def assign_at_end(
    file: PythonFile, scope: Scope, new: Assignments, behind: Statement | None = None
) -> list[Edit] | None:
    """Assign settings in front of the `return NAME` that ends a function; what it returns gets a name if need be.

    A `return` to which no way leads from the statement `behind` stays as it is.
    """

    def written(name: str) -> list[str | None]:
        return [assignment_line(file, path, value, lambda path: f"{name}.{path}") for path, value in new]

    if ends := final_returns(file, scope):
        edits: list[Edit] = []
        for statement, name in ends:
            if behind is not None and not leads_to(file, behind, statement):
                continue
            more = _inserted(file, new, written(name), partial(insert_before, file, statement))
            if more is None:
                return None
            edits += (each for each in more if each not in edits)
        return edits or None
    if unnamed := unnamed_return(file, scope):
        return _inserted(file, new, written(unnamed[1]), partial(assign_to_name, file, *unnamed))
    if changed := given_configuration(file, scope):
        return _inserted(file, new, written(changed[1]), partial(insert_after, file, changed[0]))
    return None


def _inserted(file: PythonFile, new: Assignments, written: Sequence[str | None], insert: Insert) -> list[Edit] | None:
    """Insert the statements, and the import that they need; return None if one of them cannot be written."""
    known = [line for line in written if line is not None]
    if len(known) < len(written):
        return None
    edits = insert(known)
    return None if edits is None else [*import_edits(file, new), *edits]
