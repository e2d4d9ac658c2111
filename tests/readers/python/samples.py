"""What tests of the reader read, and how they look at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from mfsdp_lint.readers.python.state.interpreter import Interpreter

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
    step = Interpreter.step

    def counting(self: Interpreter) -> None:
        steps.count += 1
        step(self)

    with mock.patch.object(Interpreter, "step", counting):
        yield steps
