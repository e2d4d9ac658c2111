"""Truth of a value, as far as it is known; and one value for the several that a place has on different paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mfsdp_lint.megatron.conditions import agreed
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, kept
from mfsdp_lint.readers.python.values.markers import ALIKE, CONNECTED, COPY_OF, EQUAL, MAY_HAVE_CHANGED, NOT, NOT_OF
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    External,
    IteratorObject,
    ListObject,
    Object,
    StandardObject,
    Unknown,
    identical,
    is_object,
)

CHOICE_LIMIT = 12

OBJECT_LIMIT = 64


def join(interp: Interpreter, values: Sequence[Object]) -> Object:
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
                    return _too_many(interp, values)
    return options[0] if len(options) == 1 else Choice(tuple(options))


def part_of_each(interp: Interpreter, whole: Choice, values: Sequence[Object]) -> Object:
    """Join the values that a part of each option of a choice has; MISSING where reading it failed."""
    found = join(interp, [value for value in values if value is not MISSING])
    return Choice(found.options, (whole, tuple(values))) if type(found) is Choice and whole.is_selection else found


def over_options(interp: Interpreter, choice: Choice, read: Callable[[Object], Object]) -> Object:
    """Join what `read` gives for each option. Raises the last error, where it raises for all of them."""
    found: list[Object] = []
    error: Raised | None = None
    for option in choice.options:
        try:
            found.append(read(option))
        except Raised as raised:
            interp.doubts += 1
            error = kept(raised)
            found.append(MISSING)
    if error is not None and all(value is MISSING for value in found):
        raise error
    return part_of_each(interp, choice, found)


_EQUAL = frozenset((str, int, float, bool, bytes, External, frozenset))
"""The kinds of values of which equal ones are the same; of all others only an object itself is (see `identical`)."""


def _too_many(interp: Interpreter, values: Sequence[Object]) -> Object:
    seen: set[int] = set()
    certain = True
    for value in values:
        for option in value.options if type(value) is Choice else (value,):
            forget_reachable(interp, option, seen)
            certain = certain and option is not None and option is not MISSING
    return interp.unknown("", certain)


def truth(interp: Interpreter, value: Object) -> bool | None:
    """Return `bool(value)` where it follows from the value alone; None where it is not known."""
    if isinstance(value, CONSTANTS):
        return bool(value)
    if type(value) is StandardObject:
        return None if value.held is None else bool(value.held)
    if isinstance(value, Unknown):
        settled = interp.settle(value)
        if settled is not value:
            return truth(interp, settled)
        inner = value.fields.get(NOT_OF)
        if inner is not None:
            known = truth(interp, inner)
            return None if known is None else not known
        found = interp.path.facts.fields.get(("truth", id(value)))
        if found is None and COPY_OF in value.fields:
            return truth(interp, value.fields[COPY_OF])
        return found if isinstance(found, bool) else None
    if isinstance(value, Choice):
        if (settled := interp.settle(value)) is not value:
            return truth(interp, settled)
        return agreed([None if option is MISSING else truth(interp, option) for option in value.options])
    if isinstance(value, (tuple, frozenset)):
        return bool(value)
    if isinstance(value, IteratorObject):
        return True
    if isinstance(value, ListObject):
        return None if value.items is None else bool(value.items)
    if isinstance(value, DictObject):
        certain = any(not (isinstance(item, Choice) and MISSING in item.options) for item in value.fields.values())
        return True if certain else None if value.writes.get(MAY_HAVE_CHANGED) or value.fields else False
    if isinstance(value, External):
        return None
    return True


def decide(interp: Interpreter, value: Object, outcome: bool) -> None:
    """Take it as given on this path that `value` is true (or false)."""
    if isinstance(value, Choice):
        narrow(interp, value, [option for option in value.options if truth(interp, option) is not (not outcome)])
    if not isinstance(value, Unknown):
        return
    inner = value.fields.get(NOT_OF)
    if inner is not None:
        decide(interp, inner, not outcome)
        return
    connected = value.fields.get(CONNECTED)
    if isinstance(connected, tuple):
        is_and, operands = connected
        left = operands if outcome is is_and else [each for each in operands if truth(interp, each) is not is_and]
        if outcome is is_and or len(left) == 1:
            for each in left:
                decide(interp, each, outcome)
    interp.learn("truth", value, outcome)
    # Where paths were joined, either of two questions may be meant: nothing is learnt from that.
    alike = value.fields.get(ALIKE)
    if isinstance(alike, tuple) and outcome and isinstance(alike[0], Unknown):
        interp.learn("truth", *alike)
    question = value.fields.get(EQUAL)
    if isinstance(question, tuple):
        subject, answer = question
        if outcome:
            interp.learn("is", subject, answer)
        elif answer is None and isinstance(subject, Unknown) and not subject.not_none:
            interp.learn("not none", subject, True)


def narrow(interp: Interpreter, choice: Choice, kept: Sequence[Object]) -> None:
    """Take it as given on this path that a selection is one of these of its options, and so of what it is a part of."""
    if not choice.is_selection or not kept or len(kept) == len(choice.options):
        return
    interp.learn("is", choice, kept[0] if len(kept) == 1 else Choice(tuple(kept), is_selection=True))
    by = choice.picked_by(*kept) if len(kept) == 1 and choice.by is not None else None
    if by is not None and len(by.values) == 1 and by.values[0] not in (0, 1):  # True and 1.0 are the same key
        interp.learn("is", by.key, by.values[0])
    if choice.of is not None:
        whole, values = choice.of
        narrow(
            interp,
            whole,
            [
                option
                for option, value in zip(whole.options, values, strict=True)
                if any(identical(value, each) for each in kept)
            ],
        )


def negated(interp: Interpreter, value: Object) -> Object:
    """Return `not value` where that is not known: the same unknown each time."""
    if isinstance(value, Unknown):
        found = value.fields.get(NOT)
        if found is None:
            found = interp.unknown(f"not {value.text}", not_none=True)
            found.obstacle = value.obstacle
            found.fields[NOT_OF] = value
            value.fields[NOT] = found
        return found
    if isinstance(value, Choice):
        answers = [truth(interp, option) for option in value.options]
        if None not in answers:
            return part_of_each(interp, value, [not answer for answer in answers])
    return Choice((True, False))
