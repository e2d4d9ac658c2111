"""Three-valued (Kleene) logic: true, false, or None where it is not decided."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def junction(truths: Iterable[Truth], decisive: bool) -> Truth:
    """`and` (False is decisive) or `or` (True is): a decisive truth decides alone, and ends the asking."""
    result: Truth = not decisive
    for truth in truths:
        if truth is decisive:
            return truth
        if truth is None:
            result = None
    return result


def agreed(answers: Iterable[Truth]) -> Truth:
    """The answer that all give, if all give the same."""
    iterator = iter(answers)
    first = next(iterator, None)
    return first if all(answer is first for answer in iterator) else None
