"""Join: one value for the several that a place has on different execution paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.identity import identical, is_object
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, External, Object

CHOICE_LIMIT = 12


OBJECT_LIMIT = 64


def join(machine: Machine, values: Sequence[Object]) -> Object:
    """Return a value that may be any of `values`."""
    options: list[Object] = []
    known: set[Any] = set()
    has_object = False
    for value in values:
        for option in value.options if type(value) is Choice else (value,):
            kind = type(option)
            key = (kind, option) if kind in _EQUAL else id(option)
            if key in known or (kind is tuple and any(identical(option, other) for other in options)):
                continue
            known.add(key)
            options.append(option)
            if len(options) > CHOICE_LIMIT:
                has_object = has_object or any(map(is_object, options))
                if len(options) > OBJECT_LIMIT or not has_object:
                    return _too_many(machine, values)
    return options[0] if len(options) == 1 else Choice(tuple(options))


def part_of_each(machine: Machine, whole: Choice, values: Sequence[Object]) -> Object:
    """Join the values that a part of each option of a choice has; MISSING where reading it failed."""
    found = join(machine, [value for value in values if value is not MISSING])
    return Choice(found.options, (whole, tuple(values))) if type(found) is Choice and whole.is_selection else found


_EQUAL = frozenset((str, int, float, bool, bytes, External, frozenset))
"""The kinds of values of which equal ones are the same; of all others only an object itself is (see `identical`)."""


def _too_many(machine: Machine, values: Sequence[Object]) -> Object:
    seen: set[int] = set()
    certain = True
    for value in values:
        for option in value.options if type(value) is Choice else (value,):
            havoc(machine, option, seen)
            certain = certain and option is not None and option is not MISSING
    return machine.unknown("", certain)
