"""Parts of unknown objects: each is made when it is first asked for, and shared where Python shares it."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.markers import EITHER, FORMER, HAZY, REST
from mfsdp_lint.readers.python.values.objects import MISSING, Instance, Object, Unknown

_SHARING = (REST, HAZY, EITHER)
"""Markers that name the objects with which an unknown one shares its parts."""


class Former:
    """A part of an unknown object from before code out of sight may have changed it."""

    __slots__ = ("key", "owner", "part")

    def __init__(self, owner: Unknown, key: Any, part: Unknown) -> None:
        self.owner = owner
        self.key = key
        self.part = part


def part_of(machine: Machine, value: Unknown, key: Any, text: str) -> Object:
    """Return an attribute or entry of an unknown value: the same one for each request, and as old as the whole."""
    known: Object = value.fields.get(key, MISSING)
    if known is not MISSING:
        return known
    found: Object
    if REST in value.fields:
        found = part_of(machine, value.fields[REST], key, text)
        if HAZY in value.fields and isinstance(found, Unknown):
            found = changed(machine, value, key, found)
    else:
        found = machine.unknown(text)
        found.born, found.obstacle = value.born, value.obstacle
    value.fields[key] = found
    return found


def shallow_copy(machine: Machine, value: Unknown | Instance) -> Unknown:
    """Make another object with the same parts, including those that nobody has asked for yet."""
    if isinstance(value, Unknown) and REST not in value.fields:
        value.fields[REST] = Unknown(value.born, value.text, obstacle=value.obstacle)
    made = machine.unknown(getattr(value, "text", ""), getattr(value, "not_none", True))
    made.obstacle = getattr(value, "obstacle", None)
    made.fields = {key: part for key, part in value.fields.items() if is_part(key) or key in _SHARING}
    made.writes = dict(value.writes)
    return made


def is_part(key: Any) -> bool:
    """Tell whether a field of an unknown object is an attribute or entry of it, and not the answer to a question."""
    return isinstance(key, str) or (isinstance(key, tuple) and key[0] == "entry")


def changed(machine: Machine, owner: Unknown, key: Any, part: Unknown) -> Unknown:
    """Return the new form of a part that may have changed: another value, or the same object with other contents."""
    former: Former | None = part.fields.get(FORMER)
    part = part if former is None else former.part
    found = machine.unknown(part.text)
    found.born, found.obstacle = owner.born, machine.obstacle or part.obstacle
    found.fields[FORMER] = Former(owner, key, part)
    return found


def as_object(machine: Machine, value: Unknown) -> Unknown:
    """Return the object that a value may be: code out of sight leaves it in place, and changes its contents."""
    former: Former | None = value.fields.get(FORMER)
    if former is None:
        return value
    if former.owner.fields.get(former.key) is value:
        machine.put(former.owner, former.key, former.part)
    return former.part
