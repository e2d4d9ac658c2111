"""Copies of values: made once, or from a template many times."""

from __future__ import annotations

import operator
from typing import Any

from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.markers import COPY_OF, FORMER
from mfsdp_lint.readers.python.values.objects import (
    Choice,
    ConfigTree,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    Interpolation,
    ListObject,
    Object,
    Option,
    PathObject,
    Unknown,
    is_constant,
)

SHARED = frozenset(
    (str, int, float, bool, type(None), bytes, Function, EnumMember, External, Interpolation, Option, PathObject)
)
"""Kinds of values that a copy of an object shares with it."""


class Template:
    """A value as it is now, ready to be made again many times; what is older than it is shared, not copied."""

    __slots__ = ("fields", "items", "parts", "places", "shared", "value", "writes")

    def __init__(self, value: Object, since: int, known: dict[int, Template]) -> None:
        known[id(value)] = self
        self.value = value
        self.shared = not own(value, since)
        self.parts: list[tuple[Any, Template]] = []
        if self.shared:
            return
        if isinstance(value, (tuple, Choice)):
            items = value.options if isinstance(value, Choice) else value
            self.parts = [(None, template(item, since, known)) for item in items]
        elif isinstance(value, ListObject):
            self.items, self.places = value.items, value.places
            if self.items is not None and any(own(item, since) for item in self.items):
                self.parts = [(None, template(item, since, known)) for item in self.items]
        else:
            assert isinstance(value, (Instance, DictObject, Unknown))  # nothing else is anybody's own
            self.fields = _contents(value)
            self.writes = value.writes.copy()
            for key, item in self.fields.items():
                if type(item) not in SHARED and own(item, since):
                    self.parts.append((key, template(item, since, known)))

    def make(self, interp: Interpreter, copies: dict[int, Object]) -> Object:
        """Make the value once more; `copies` holds the parts made already, so that shared parts stay shared."""
        value = self.value
        if self.shared:
            return value
        known = copies.get(id(self))
        if known is not None:
            return known
        if isinstance(value, tuple):
            return tuple([part.make(interp, copies) for _, part in self.parts])
        if isinstance(value, Choice):
            return Choice(tuple([part.make(interp, copies) for _, part in self.parts]))
        if isinstance(value, ListObject):
            listed = copies[id(self)] = type(value)(self.items, interp.tick())
            if self.parts:
                listed.fields["items"] = [part.make(interp, copies) for _, part in self.parts]
            listed.loaded_from(self.places)
            return listed
        assert isinstance(value, (Instance, DictObject, Unknown))
        made = copies[id(self)] = _empty(interp, value)
        made.fields = fields = self.fields.copy()
        made.writes = self.writes.copy()
        for key, part in self.parts:
            fields[key] = part.make(interp, copies)
        _adopt(made, value)
        return made


def template(value: Object, since: int = 0, known: dict[int, Template] | None = None) -> Template:
    """Return a template of a value: objects made after `since` are made anew each time, older ones are shared."""
    known = {} if known is None else known
    return known.get(id(value)) or Template(value, since, known)


def _empty(interp: Interpreter, value: Instance | DictObject | Unknown) -> Instance | DictObject | Unknown:
    """Make an object of the same kind, without contents."""
    if isinstance(value, Instance):
        return Instance(value.cls, interp.tick(), value.made)
    if isinstance(value, DictObject):
        made = DictObject({}, interp.tick(), cls=value.cls)
        made.made = value.made
        return made
    kind = ConfigTree if type(value) is ConfigTree else Unknown
    return kind(interp.tick(), value.text, value.not_none, value.obstacle)


def _adopt(made: Object, value: Object) -> None:
    """Make the copy of a tree the one that its own entries belong to; it keeps the place of the tree itself."""
    if isinstance(made, ConfigTree) and isinstance(value, ConfigTree):
        made.above = value.above
        for entry in made.fields.values():
            if isinstance(entry, ConfigTree):
                entry.above = made


def _contents(value: Instance | DictObject | Unknown) -> dict[Any, Any]:
    """Return the contents of an object without its former place, which a copy does not share."""
    fields = value.fields.copy()
    fields.pop(FORMER, None)
    return fields


def own(value: Object, since: int) -> bool:
    """Tell whether a value has to be made anew: it is, or holds, an object that is not older than `since`."""
    if type(value) in SHARED:
        return False
    if isinstance(value, (Choice, tuple)):
        return any(own(item, since) for item in (value.options if isinstance(value, Choice) else value))
    return isinstance(value, (Instance, DictObject, ListObject, Unknown)) and abs(value.born) >= since


def deep_copy(interp: Interpreter, value: Object, copies: dict[int, Object] | None = None) -> Object:
    """Make a deep copy: new objects with the same contents and the same writes."""
    if type(value) in SHARED:
        return value
    copies = {} if copies is None else copies
    known = copies.get(id(value))
    if known is not None:
        return known
    if isinstance(value, ListObject):
        listed = copies[id(value)] = type(value)([], interp.tick())
        items = value.items
        listed.fields["items"] = items if items is None else [deep_copy(interp, item, copies) for item in items]
        listed.loaded_from(value.places)
        return listed
    if isinstance(value, tuple) and not is_constant(value):
        return tuple(deep_copy(interp, item, copies) for item in value)
    if isinstance(value, Choice):
        options = tuple(deep_copy(interp, option, copies) for option in value.options)
        return value if all(map(operator.is_, options, value.options)) else Choice(options)
    if not isinstance(value, (Instance, DictObject, Unknown)):
        return value
    if isinstance(value, Unknown) and type(value) not in (Unknown, ConfigTree):
        return value
    result = copies[id(value)] = _empty(interp, value)
    fields = _contents(value)
    if isinstance(result, Unknown):
        known = interp.path.facts.fields.get(("not none", id(value))) is True
        result.not_none = result.not_none or known or type(value) is ConfigTree
        if not fields and type(value) is Unknown:
            result.fields[COPY_OF] = value
            return result
    result.writes = value.writes.copy()
    for key, item in fields.items():
        if type(item) not in SHARED:
            fields[key] = deep_copy(interp, item, copies)
    result.fields = fields
    _adopt(result, value)
    return result
