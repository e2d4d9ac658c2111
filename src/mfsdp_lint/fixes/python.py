"""Edits of Python: replace a value where it is written, add an argument, take a write out, add an assignment.

Every function gives None where it is not certain of what it would change; then another place is tried, or no fix is
offered. Whether an edit does what it should is not decided here: every one is proved by reading the changed text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.assigning import assign_after, assign_after_where, assign_at_end
from mfsdp_lint.fixes.editor import ABSENT, Assignments, Editable, Old, Switch
from mfsdp_lint.fixes.edits import append_items, path_written, remove_item
from mfsdp_lint.fixes.expressions import (
    can_be_asked,
    choice,
    condition,
    expression_at,
    inside_string,
    is_parameter,
    literal_among,
    negated,
    parsed_expression,
    replace_literal,
    spell_python,
    statement_of,
    usual_quote,
    value_at,
    write_of,
    write_over,
)
from mfsdp_lint.fixes.statements import PythonFile, Scope, blocks, delete, has_its_line, inside, parse


@dataclass(frozen=True, slots=True)
class PythonEdits(Editable):
    """The edits of one Python file."""

    file: PythonFile

    def replace_value(self, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
        """Write another value in the place where `origin` says that the setting's value stands.

        A parameter or an option of the command line stays: replaced, it would be one that nobody can set any more.
        """
        place = statement_of(self.file, origin)
        if place is None:
            return None
        where = value_at(self.file, place, origin.point, path) or literal_among(self.file, origin.point, old.get(path))
        if where is None:
            return None
        start, end = where
        text = self.file.document.text[start:end]
        literal = expression_at(self.file, start, end)
        if not isinstance(literal, ast.Constant) and (origin.option or is_parameter(place.scope, text)):
            return None
        if literal is not None and path in old and (edits := inside_string(self.file, literal, path, value, old[path])):
            return edits
        quote = text[-1:] if text[-1:] in ("'", '"') else usual_quote(self.file)
        return write_over(self.file, start, end, spell_python(value, quote))

    def replace_source(
        self, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
    ) -> list[Edit] | None:
        """Write another value in a text that the setting's value is handed on from."""
        if path not in old:
            return None
        if edits := replace_literal(self.file, source.span, path, value, old[path], uses):
            return edits
        found = expression_at(self.file, *self.file.document.range(source.span))
        if found is None or isinstance(found, ast.Constant):
            return None
        return self.replace_value(Origin(source.span, "assigned"), path, value, old)

    def add_arguments(self, origin: Origin, new: Assignments) -> list[Edit] | None:
        """Give the call that `origin` spans, which took the declared default, keyword arguments of its own."""
        import libcst as cst

        from mfsdp_lint.fixes.concrete import read

        place = statement_of(self.file, origin)
        concrete = read(self.file, place) if place else None
        if concrete is None:
            return None
        span = self.file.document.range(origin.span)
        call = next(
            (node for node in concrete.nodes() if isinstance(node, cst.Call) and concrete.places[node] == span), None
        )
        given = [(path.rpartition(".")[2], value) for path, value in new if value is not ABSENT]
        if (
            call is None
            or len(given) < len(new)
            or any(isinstance(argument.value, cst.GeneratorExp) for argument in call.args)
        ):
            return None
        if any(argument.keyword is not None and argument.keyword.value in dict(given) for argument in call.args):
            return None
        between = concrete.items(call)
        quote = usual_quote(self.file)
        texts = [f"{name}={spell_python(value, quote)}" for name, value in given]
        changes = append_items(self.file.document, between, texts) if between else None
        return None if changes is None else [self.file.document.edit(*change) for change in changes]

    def assign_after(self, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
        if self.file.document.text.startswith("--", self.file.document.range(anchor.span)[0]):
            return self._words_after(anchor, new)
        return assign_after(self.file, anchor, setting, new)

    def _words_after(self, anchor: Origin, new: Assignments) -> list[Edit] | None:
        """Add words of a command behind one that is a literal: to the list that it is an element of, or to its text."""
        from mfsdp_lint.fixes.shell import flags_for

        flags = [None if value is ABSENT else next(flags_for(path, value), None) for path, value in new]
        if None in flags:
            return None
        words = " ".join(dict.fromkeys(filter(None, flags)))
        document = self.file.document
        start, end = document.range(anchor.span)
        text, quote = document.text, document.text[start - 1]
        if quote not in "\"'" or not text.startswith(quote, end):
            return [document.edit(end, end, f" {words}")]
        first, last = document.line_start(start), document.line_end(end)
        alone = not text[first : start - 1].strip() and text[end + 1 : last].strip() in ("", ",")
        between = f",\n{text[first : start - 1]}" if alone else ", "
        added = ", ".join(f"{quote}{word}{quote}" for word in words.split())
        return [document.edit(end + 1, end + 1, between + added)]

    def assign_after_where(
        self, anchor: Origin, setting: str, switch: Switch, new: Assignments, old: Old
    ) -> list[Edit] | None:
        return assign_after_where(self.file, anchor, setting, switch, new, old)

    def assign_at_end(self, scope: Origin, new: Assignments) -> list[Edit] | None:
        """Assign in front of the final `return` of the function that begins at the line, or else contains it: then of
        those ways alone on which the line is.
        """
        if function := _function_at(self.file, scope.span.line):
            return assign_at_end(self.file, function, new)
        place = statement_of(self.file, scope)
        return assign_at_end(self.file, place.scope, new, place) if place else None

    def rename(self, origin: Origin, path: str, meant: str) -> list[Edit] | None:
        """Write the name of the setting `meant` where `origin` assigns to `path`, if that stands there once."""
        if edits := path_written(self.file.document, origin, path, meant):
            return edits
        place = statement_of(self.file, origin)
        if place is None:
            return None
        start, end = place.start, place.end
        if isinstance(place.node, ast.Assign) and len(place.node.targets) == 1:
            start, end = self.file.range(place.node.targets[0])
        name, new = (each.rpartition(".")[2] for each in (path, meant))
        found = list(re.finditer(rf"\b{re.escape(name)}\b", self.file.document.text[start:end]))
        if len(found) != 1:
            return None
        return [self.file.document.edit(start + found[0].start(), start + found[0].end(), new)]

    def delete_write(self, origin: Origin, path: str) -> list[Edit] | None:
        """Take out what `origin` says set the setting: the statement, or the one entry or argument of it."""
        from mfsdp_lint.fixes.concrete import is_update, read

        place = statement_of(self.file, origin)
        concrete = read(self.file, place) if place else None
        if place is None or concrete is None:
            return None
        write = write_of(concrete.writes(), path.rpartition(".")[2], self.file.document.range(origin.point))
        if write is None:
            return None
        if write.where == concrete.whole:
            return delete(self.file, place)
        if write.item is None:
            return None
        brackets, index = write.item
        between = concrete.items(brackets)
        if between is None:
            return None
        if len(between.items) == 1 and is_update(concrete.module, brackets):
            return delete(self.file, place)
        return [self.file.document.edit(*change) for change in remove_item(self.file.document, between, index)]

    def replace_value_where(self, origin: Origin, path: str, value: Plain, switch: Switch) -> list[Edit] | None:
        """Write a conditional expression where `origin` says that the value stands, which remains for all others."""
        place, asked = statement_of(self.file, origin), condition(self.file, switch)
        old = value_at(self.file, place, origin.point, path) if place else None
        if asked is None or old is None:
            return None
        text = self.file.document.text[slice(*old)]
        parsed = parsed_expression(text)
        if parsed is None or not can_be_asked(parsed):
            return None
        new = spell_python(value, text[-1] if text[-1] in "'\"" else usual_quote(self.file))
        return [self.file.document.edit(*old, choice(asked, new, text))]

    def delete_write_where(self, origin: Origin, path: str, switch: Switch) -> list[Edit] | None:
        """Let the statement that `origin` says set the setting be for all others: `if not fsdp:` in front of it."""
        from mfsdp_lint.fixes.concrete import read

        place, asked = statement_of(self.file, origin), condition(self.file, switch)
        concrete = read(self.file, place) if place else None
        if place is None or concrete is None or asked is None or not has_its_line(self.file, place):
            return None
        write = write_of(concrete.writes(), path.rpartition(".")[2], self.file.document.range(origin.point))
        if write is None or write.where != concrete.whole:
            return None
        text = self.file.document.text[place.start : place.end]
        new = inside(self.file, place, f"if {negated(asked)}:", text)
        return None if new is None else [self.file.document.edit(place.start, place.start, new.removesuffix(text))]


def open_python(path: str, text: str) -> PythonEdits | None:
    """Open a Python file for editing; None if it does not parse."""
    file = parse(path, text)
    return PythonEdits(file) if file else None


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
