"""What tests of the reader read, and how they look at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from mfsdp_lint.readers.python.state.machine import Machine

FRAME = """\
from dataclasses import dataclass, field

@dataclass
class Model:
    size: object = 1

@dataclass
class ConfigContainer:
    model: Model = field(default_factory=Model)
"""


class Steps:
    """How many steps were taken."""

    count = 0


@contextmanager
def counted() -> Iterator[Steps]:
    """Counts the steps that every machine takes inside."""
    steps = Steps()
    step = Machine.step

    def counting(self: Machine) -> None:
        steps.count += 1
        step(self)

    with mock.patch.object(Machine, "step", counting):
        yield steps
