"""Values of settings, as far as they are known: one value, one of several, set to something unknown, or unknown.

Four states, never a guess. Rules judge them in three-valued logic; reports print them with `describe`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass

Scalar = None | bool | int | float | str
"""A plain value. Enum members and dtypes are their dotted name as text ("torch.bfloat16", "full_iteration")."""

Plain = Scalar | list["Plain"] | dict[str, "Plain"]
"""A value as JSON has it: lists and dictionaries of scalars included."""

CWD = "<CWD>"
"""A text's placeholder for the folder that a program is started in."""


@dataclass(frozen=True, slots=True)
class Known:
    """Exactly this value, whatever happens."""

    value: Plain

    state = "known"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value that is one of these (two or more, all different)."""

    values: tuple[Plain, ...]

    state = "one-of"


@dataclass(frozen=True, slots=True)
class NotNone:
    """Set to something that cannot be known; it is not None."""

    state = "set"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of which nothing is known; no finding may follow from it."""

    state = "unknown"


Value = Known | OneOf | NotNone | Unknown

UNKNOWN = Unknown()
NOT_NONE = NotNone()
NONE = Known(None)


def same(left: Plain, right: Plain) -> bool:
    """Tell whether two values are equal, with booleans kept apart from 0 and 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def is_known_as(value: Value, wanted: Plain) -> bool:
    """Tell whether a value is known and equal to the wanted one."""
    return isinstance(value, Known) and same(value.value, wanted)


def possible(value: Value) -> tuple[Plain, ...] | None:
    """Return all values it can take, or None where they cannot be listed."""
    if isinstance(value, Known):
        return (value.value,)
    return value.values if isinstance(value, OneOf) else None


def join(values: Iterable[Value]) -> Value:
    """Return the knowledge that is left when any of `values` may be the real one."""
    found: list[Plain] = []
    open_ended = False
    none_possible = False
    for value in values:
        options = possible(value)
        if options is None:
            open_ended = True
            none_possible |= isinstance(value, Unknown)
            continue
        for option in options:
            none_possible |= option is None
            if not any(same(option, known) for known in found):
                found.append(option)
    if open_ended or not found:
        return UNKNOWN if none_possible or not open_ended else NOT_NONE
    return Known(found[0]) if len(found) == 1 else OneOf(tuple(found))


def describe(value: Value) -> str:
    """Spell a value as a person would write it: `"torch_dist"`, `True`, `1 or 2`, `set`, `unknown`."""
    match value:
        case Known(known):
            return spell(known)
        case OneOf(values):
            return " or ".join(spell(option) for option in values)
        case NotNone():
            return "set"
        case _:
            return "unknown"


def spell(value: Plain) -> str:
    """Spell a plain value as Python does, with double quotes."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


_HUGE = lazy_pattern(r"0[xXoObB]\w{3500}")
"""Python itself refuses decimal numbers of more than 4,300 digits, which are some 3,570 hexadecimal ones."""


def refuse_huge(text: str) -> None:
    """Raise ValueError for a text with such a number, as Python does for a decimal one."""
    if _HUGE.search(text):
        raise ValueError("a number of thousands of digits")
