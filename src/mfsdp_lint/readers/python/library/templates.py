"""`string.Template`, and templates of Jinja: texts that are filled in part by part; a value may not be known.

Of a template that a program read from a file, the parts of what it makes know where they stand: in the file, or where
their value was written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval.iteration import as_text, text_of_parts
from mfsdp_lint.readers.python.eval.standard_objects import held
from mfsdp_lint.readers.python.state.calling import Model, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.values.bounds import LONGEST_TEXT
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import DictObject, Object, StandardObject


def _substitute(*, is_safe: bool) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        template, *given = map(interp.settle, call.arguments)
        assert type(template) is StandardObject
        tables = [each for each in given if isinstance(each, DictObject) and not each.writes.get(MAY_HAVE_CHANGED)]
        if len(tables) < len(given):
            return interp.unknown("", not_none=True)
        values = {name: value for each in tables for name, value in each.fields.items()} | call.keywords
        places = {name: write for each in tables for name, write in each.writes.items()} | _given_by(call)
        said = held(template).template
        path = interp.finder.texts.get(said)
        lines = Lines(said)

        def parts() -> Iterator[tuple[str | None, Any]]:
            at = 0
            for found in held(template).pattern.finditer(said):
                yield said[at : found.start()], in_file(at, found.start())
                at = found.end()
                name = found["named"] or found["braced"]
                if name in values:
                    yield as_text(interp, values[name]), places.get(name)
                elif found["escaped"] is not None or is_safe:
                    yield "$" if found["escaped"] is not None else found[0], in_file(*found.span())
                elif name is None:
                    raise Raised("ValueError", "Invalid placeholder in string")
                else:
                    raise Raised("KeyError", name)
            yield said[at:], in_file(at, len(said))

        def in_file(start: int, end: int) -> Origin | None:
            return None if path is None else Origin(lines.span(path, start, end), "assigned")

        return _put_together(interp, said, list(parts()), list(values.values()))

    return model


def _put_together(
    interp: Interpreter, template: str, parts: list[tuple[str | None, Any]], values: list[Object]
) -> Object:
    """Return the text that the parts of a template make, each with its place; None stands for a part that is not known.

    Where the template is a file's, the places of the parts are remembered.
    """
    if sum(len(text or HOLE) for text, _ in parts) > LONGEST_TEXT:
        return interp.unknown("", not_none=True)
    if interp.finder.texts.get(template) is not None:
        placed = tuple((HOLE if text is None else text, place) for text, place in parts)
        interp.finder.parts["".join(text for text, _ in placed)] = placed
    return text_of_parts(interp, [text for text, _ in parts], values)


def _given_by(call: Call) -> dict[str, Any]:
    """Return what gives each keyword argument: its expression, or the write of an entry of a mapping (`**row`)."""
    focus = call.focus.items()
    return {name: Text(each.value, call.frame) if isinstance(each, ast.keyword) else each for name, each in focus}


@models("jinja2.filled")
def _filled(interp: Interpreter, call: Call) -> Object:
    """Fill in a template of Jinja. (Hardly any program has one.)"""
    from mfsdp_lint.readers.python.library.jinja_values import parts_of

    parts, template = parts_of(interp, call), interp.settle(call.arguments[0])
    if parts is None or not isinstance(template, str):
        return interp.unknown("", not_none=True)
    return _put_together(interp, template, parts, [call.arguments[-1]])


models("string.Template.substitute")(_substitute(is_safe=False))
models("string.Template.safe_substitute")(_substitute(is_safe=True))
