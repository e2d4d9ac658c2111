"""Sorting."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.containers import any_of, holds_objects
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.truth import truth
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import Object, is_constant, is_symbolic


def sort(machine: Machine, items: list[Object], keywords: dict[str, Object], frame: Frame) -> list[Object] | None:
    """Sort the elements; None where the order is not known."""
    key = keywords.get("key")
    given = items if key is None else [invoke(machine, key, Call([item], {}, None, frame)) for item in items]
    keys = list(map(machine.settle, given))
    if not all(is_constant(one) for one in keys) or is_symbolic(*keys):
        return [any_of(machine, items)] * len(items) if key is not None and holds_objects(items) else None
    order = sorted(
        range(len(items)), key=_Comparable(keys), reverse=truth(machine, keywords.get("reverse", False)) is True
    )
    return [items[index] for index in order]


class _Comparable:
    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys
        try:
            sorted(keys)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None

    def __call__(self, index: int) -> Any:
        return self.keys[index]
