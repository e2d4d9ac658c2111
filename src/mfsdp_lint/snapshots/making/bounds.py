"""What a function of upstream may change at most, by what is written in it and in all that it may call.

For functions that cannot be evaluated without their arguments (`ConfigContainer.to_yaml`, `comm_overlap.setup`): an
attribute whose name is written nowhere in reach is still what it was. Which object is written is not looked at, so the
bound holds for every object that the arguments lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Function
from mfsdp_lint.snapshots.making.inheritance import Classes
from mfsdp_lint.snapshots.making.own_changes import OwnChanges, own_changes
from mfsdp_lint.snapshots.making.results import Boundless, result
from mfsdp_lint.snapshots.snapshot import Node

MOST_FUNCTIONS = 400
"""Functions in reach; of one with more, nothing is told."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The names of the attributes that may be written, whether contents of lists and dictionaries may, the result."""

    names: frozenset[str]
    contents: bool
    result: Node

    def described(self) -> list[Node]:
        """As a snapshot keeps it."""
        return [sorted(self.names), self.contents, self.result]


class Bounds:
    """The bounds of the functions of these modules, which may be more when it is asked."""

    def __init__(self, machine: Machine, modules: Mapping[str, Module]) -> None:
        self.machine = machine
        self.modules = modules
        self.classes = Classes(machine, modules)
        self._own: dict[int, tuple[Function, OwnChanges | None]] = {}

    def of(self, function: Function) -> Bound | None:
        """What a call may change at most; None where it may be anything."""
        try:
            given = result(function)
        except Boundless:
            return None
        seen: dict[int, Function] = {}
        todo = [function]
        names: set[str] = set()
        contents = False
        while todo:
            each = todo.pop()
            if id(each) in seen:
                continue
            seen[id(each)] = each
            own = self._alone(each)
            if own is None or len(seen) > MOST_FUNCTIONS:
                return None
            names |= own.names
            contents |= own.contents
            todo += own.calls
        return Bound(frozenset(names), contents, given)

    def _alone(self, function: Function) -> OwnChanges | None:
        if id(function) not in self._own:
            try:
                own = own_changes(self.machine, self.modules, self.classes, function)
            except Boundless:
                own = None
            self._own[id(function)] = function, own
        return self._own[id(function)][1]
