"""Join: one value for the several that a place has on different execution paths."""

from __future__ import annotations

from collections.abc import Sequence

from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.identity import identical, is_object
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, Object

CHOICE_LIMIT = 12


OBJECT_LIMIT = 64


def join(machine: Machine, values: Sequence[Object]) -> Object:
    """A value that may be any of `values`."""
    given = [option for value in values for option in (value.options if type(value) is Choice else (value,))]
    options: list[Object] = []
    for option in given:
        for known in options:
            if option is known or identical(option, known):
                break
        else:
            options.append(option)
            if len(options) > CHOICE_LIMIT and (len(options) > OBJECT_LIMIT or not any(map(is_object, options))):
                seen: set[int] = set()
                for one in given:
                    havoc(machine, one, seen)
                return machine.unknown("", all(option is not None and option is not MISSING for option in given))
    return options[0] if len(options) == 1 else Choice(tuple(options))
