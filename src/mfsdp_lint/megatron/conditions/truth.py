"""Three-valued (Kleene) logic: true, false, or None where it is not decided."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def junction(truths: Iterable[Truth], decisive: bool) -> Truth:
    """Join truths by `and` (False is decisive) or `or` (True is): a decisive truth decides alone, and ends the loop."""
    result: Truth = not decisive
    for truth in truths:
        if truth is decisive:
            return truth
        if truth is None:
            result = None
    return result


def agreed(answers: Iterable[Truth]) -> Truth:
    """Return the answer that all give, if all give the same; else None."""
    iterator = iter(answers)
    first = next(iterator, None)
    return first if all(answer is first for answer in iterator) else None
