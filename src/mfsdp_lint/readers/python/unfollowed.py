"""Calls whose code is not at hand."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.machine import Frame, Machine
from mfsdp_lint.readers.python.objects import Instance, Object


def unfollowed(
    machine: Machine, name: str, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
) -> Object:
    """A call whose code is not at hand: its result is unknown, and so is everything it may have changed."""
    from mfsdp_lint.readers.python.library import changes_nothing

    machine.unfollowed += 1
    machine.doubts += 1
    if not changes_nothing(name):
        machine.launched.extend(_configurations(machine, name, [*arguments, *keywords.values()]))
        if machine.tracing:
            machine.suspect = machine.note(frame, node, None, "unfollowed", None, None)
        for value in [*arguments, *keywords.values()]:
            machine.havoc(value)
        machine.suspect = None
    return machine.unknown(f"{name}()")


def _configurations(machine: Machine, name: str, values: list[Object]) -> list[tuple[Object, Object]]:
    from mfsdp_lint.readers.python.entries import is_container

    return [
        (value, machine.copy(value)) for value in values if isinstance(value, Instance) and is_container(machine, value)
    ]
