"""Edits of Python: replace a value where it is written, add an argument, take a write out, add an assignment.

Every function gives None where it is not certain of what it would change; then another place is tried, or no fix is
offered. Whether an edit does what it should is not decided here: every one is proved by reading the changed text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes import assigning, conditions, items, said, spelling, written
from mfsdp_lint.fixes.editor import ABSENT, Assignments, Old, Switch
from mfsdp_lint.fixes.edits import path_written
from mfsdp_lint.fixes.statements import (
    PythonFile,
    Scope,
    blocks,
    delete,
    parse,
)


def open_python(path: str, text: str) -> PythonEdits | None:
    """Open a Python file for editing; None if it does not parse."""
    file = parse(path, text)
    return PythonEdits(file) if file else None


@dataclass(frozen=True, slots=True)
class PythonEdits:
    """The edits of one Python file (see `Editable`)."""

    file: PythonFile

    def replace_value(self, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
        """Replace the value in the statement at fault; nothing else is touched."""
        return replace_value(self.file, origin, path, value, old)

    def replace_source(
        self, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
    ) -> list[Edit] | None:
        """Replace the literal that says the value, or the expression that hands it on."""
        return replace_source(self.file, source, path, value, old, uses)

    def add_arguments(self, origin: Origin, new: Assignments) -> list[Edit] | None:
        """Add keyword arguments to the call."""
        given = [(path, value) for path, value in new if value is not ABSENT]
        return add_arguments(self.file, origin, given) if len(given) == len(new) else None

    def assign_after(self, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
        """Assign on the lines behind the statement."""
        return assigning.assign_after(self.file, anchor, setting, new)

    def replace_value_where(self, origin: Origin, path: str, value: Plain, switch: Switch) -> list[Edit] | None:
        """Put a conditional expression in the place of a literal."""
        return conditions.replace_value_where(self.file, origin, path, value, switch)

    def assign_after_where(
        self, anchor: Origin, setting: str, switch: Switch, new: Assignments, old: Old
    ) -> list[Edit] | None:
        """Assign conditional expressions on the lines behind the statement."""
        return assigning.assign_after_where(self.file, anchor, setting, switch, new, old)

    def assign_at_end(self, scope: Origin, new: Assignments) -> list[Edit] | None:
        """Assign in front of the final `return` of the function that begins at the line, or else contains it."""
        function = _function_at(self.file, scope.span.line) or scope_of(self.file, scope)
        return assigning.assign_at_end(self.file, function, new) if function else None

    def rename(self, origin: Origin, path: str, meant: str) -> list[Edit] | None:
        """Replace the last name of the assignment's target."""
        return rename(self.file, origin, path, meant)

    def delete_write(self, origin: Origin, path: str) -> list[Edit] | None:
        """Delete the statement, or its one entry or argument."""
        return delete_write(self.file, origin, path)

    def delete_write_where(self, origin: Origin, path: str, switch: Switch) -> list[Edit] | None:
        """Keep the statement for all others."""
        return conditions.delete_write_where(self.file, origin, path, switch)


def replace_value(file: PythonFile, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
    """Write another value in the place where `origin` says that the setting's value stands.

    A parameter or an option of the command line stays: replaced, it would be one that nobody can set any more.
    """
    place = written.statement_of(file, origin)
    if place is None:
        return None
    where = written.value_at(file, place, origin.point, path) or said.among(file, origin.point, old.get(path))
    if where is None:
        return None
    start, end = where
    text = file.document.text[start:end]
    literal = said.expression_at(file, start, end)
    if not isinstance(literal, ast.Constant) and (origin.option or written.is_parameter(place.scope, text)):
        return None
    if literal is not None and path in old and (edits := said.inside(file, literal, path, value, old[path])):
        return edits
    quote = text[-1:] if text[-1:] in ("'", '"') else spelling.usual_quote(file)
    return [file.document.edit(start, end, spelling.spell(value, quote))]


def replace_source(
    file: PythonFile, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
) -> list[Edit] | None:
    """Write another value in a text that the setting's value is handed on from."""
    if path not in old:
        return None
    if edits := said.replace_said(file, source.span, path, value, old[path], uses):
        return edits
    found = said.expression_at(file, *file.document.range(source.span))
    if found is None or isinstance(found, ast.Constant):
        return None
    return replace_value(file, Origin(source.span, "assigned"), path, value, old)


def rename(file: PythonFile, origin: Origin, path: str, meant: str) -> list[Edit] | None:
    """Write the name of the setting `meant` where `origin` assigns to `path`; None where that stands more than once."""
    if edits := path_written(file.document, origin, path, meant):
        return edits
    place = written.statement_of(file, origin)
    if place is None:
        return None
    start, end = place.start, place.end
    if isinstance(place.node, ast.Assign) and len(place.node.targets) == 1:
        start, end = file.range(place.node.targets[0])
    name, new = (each.rpartition(".")[2] for each in (path, meant))
    found = list(re.finditer(rf"\b{re.escape(name)}\b", file.document.text[start:end]))
    if len(found) != 1:
        return None
    return [file.document.edit(start + found[0].start(), start + found[0].end(), new)]


def add_arguments(file: PythonFile, origin: Origin, new: Sequence[tuple[str, Plain]]) -> list[Edit] | None:
    """Give the call that `origin` spans, which took the declared default, keyword arguments of its own."""
    import libcst as cst

    from mfsdp_lint.fixes.concrete import read

    place = written.statement_of(file, origin)
    concrete = read(file, place) if place else None
    if concrete is None:
        return None
    span = file.document.range(origin.span)
    call = next(
        (node for node in concrete.nodes() if isinstance(node, cst.Call) and concrete.places[node] == span), None
    )
    names = [path.rpartition(".")[2] for path, _ in new]
    if call is None or any(isinstance(argument.value, cst.GeneratorExp) for argument in call.args):
        return None
    if any(argument.keyword is not None and argument.keyword.value in names for argument in call.args):
        return None
    between = concrete.items(call)
    quote = spelling.usual_quote(file)
    texts = [f"{name}={spelling.spell(value, quote)}" for name, (_, value) in zip(names, new, strict=True)]
    changes = items.append(file.document, between, texts) if between else None
    return None if changes is None else [file.document.edit(*change) for change in changes]


def delete_write(file: PythonFile, origin: Origin, path: str) -> list[Edit] | None:
    """Take out what `origin` says set the setting: the statement, or the one entry or argument of it."""
    from mfsdp_lint.fixes.concrete import is_update, read

    place = written.statement_of(file, origin)
    concrete = read(file, place) if place else None
    if place is None or concrete is None:
        return None
    write = written.write_of(concrete.writes(), path.rpartition(".")[2], file.document.range(origin.point))
    if write is None:
        return None
    if write.where == concrete.whole:
        return delete(file, place)
    if write.item is None:
        return None
    brackets, index = write.item
    between = concrete.items(brackets)
    if between is None:
        return None
    if len(between.items) == 1 and is_update(concrete.module, brackets):
        return delete(file, place)
    return [file.document.edit(*change) for change in items.remove(file.document, between, index)]


def scope_of(file: PythonFile, origin: Origin) -> Scope | None:
    """Find the function that `origin` lies in."""
    place = written.statement_of(file, origin)
    return place.scope if place else None


def _function_at(file: PythonFile, line: int) -> Scope | None:
    """Find the function whose definition (or first decorator) is on a line."""
    pending = [file.tree.body]
    while pending:
        block = pending.pop()
        index = bisect_right(block, line, key=_first_line) - 1
        if index < 0:
            continue
        node = block[index]
        if line > (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and line <= node.lineno:
            return node
        pending += blocks(node)
    return None


def _first_line(node: ast.stmt) -> int:
    """Return the line of a definition's first decorator, else of the definition itself."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
