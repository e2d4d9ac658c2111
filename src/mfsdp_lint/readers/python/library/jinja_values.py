"""Values of a program as templates of Jinja have them, and what such a template makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.embedding_formats.jinja_templates import (
    UNDEFINED,
    OpenMapping,
    TemplateNotFollowed,
    filled_template,
    spelled,
)
from mfsdp_lint.readers.embedding_formats.template_values import UNKNOWN_ITEM, Item, Scalar
from mfsdp_lint.readers.python.eval.iteration import as_text
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import DictObject, Instance, ListObject, Object, Option, PathObject


def parts_of(interp: Interpreter, call: Call) -> list[tuple[str | None, Any]] | None:
    """Return the parts of what a call makes of a template of Jinja, each with its place, and None for the text of one
    that depends on values that are not known. Return None where the template is not known, or not followed: with
    filters and tests of the program's own, and other marks.
    """
    said, trim, lstrip, keeps, others, values = map(interp.settle, call.arguments)
    changed = isinstance(others, DictObject) and any(
        name.endswith("_string")
        or (name in ("filters", "tests") and not (isinstance(own, DictObject) and not own.fields))
        for name, own in others.fields.items()
    )
    how = (trim, lstrip, keeps)
    if not isinstance(said, str) or changed or not all(isinstance(each, bool) for each in how):
        return None
    items = _Items(interp)
    known = items.of(values)
    source = said.removesuffix("" if keeps else "\n")
    try:
        parts = filled_template(
            source, known if isinstance(known, Mapping) else {}, trim=bool(trim), lstrip=bool(lstrip)
        )
    except TemplateNotFollowed:
        return None
    path, lines = interp.finder.texts.get(said), Lines(said)
    found: list[tuple[str | None, Any]] = []
    for part in parts:
        here = None if path is None else Origin(lines.span(path, part.start, part.end), "assigned")
        if part.item is None:
            found.append((source[part.start : part.end], here))
            continue
        value, write = items.objects.get(id(part.item), (None, here))
        if isinstance(part.item, Scalar):
            text = as_text(interp, value) if id(part.item) in items.objects else spelled(part.item.value)
            found.append(("" if part.item is UNDEFINED else text, write or here))
        else:
            found.append((None, here))
    return found


class _Items:
    """Values of the program as templates have them; `objects` are the values, by the identity of the items, and what
    wrote them.
    """

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self.objects: dict[int, tuple[Object, Any]] = {}
        self._kept: list[Item] = []

    def of(self, value: Object, write: Any = None, depth: int = 0) -> Item:
        """Return the item of a value. What an object has beside its fields is not known."""
        value = self._interp.settle(value)
        if depth > _DEEPEST:
            return UNKNOWN_ITEM
        plain = value.default if isinstance(value, Option) else value
        if isinstance(plain, str | int | float | None):
            return self._noted(Scalar(plain), value, write)
        if isinstance(value, PathObject):
            return self._noted(Scalar(as_text(self._interp, value) or ""), value, write)
        if isinstance(value, DictObject) and not value.writes.get(MAY_HAVE_CHANGED):
            entries = value.fields.items()
            return {str(key): self.of(each, value.writes.get(key), depth + 1) for key, each in entries}
        if isinstance(value, Instance):
            entries = value.fields.items()
            return OpenMapping((str(key), self.of(each, value.writes.get(key), depth + 1)) for key, each in entries)
        several = list(value) if isinstance(value, tuple) else value.items if type(value) is ListObject else None
        return UNKNOWN_ITEM if several is None else [self.of(each, None, depth + 1) for each in several]

    def _noted(self, item: Scalar, value: Object, write: Any) -> Item:
        self.objects[id(item)] = value, write
        self._kept.append(item)
        return item


_DEEPEST = 8
