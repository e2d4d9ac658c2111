"""Models that compute on constants, the simplest kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.iteration import LONGEST
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.limits import is_small
from mfsdp_lint.readers.python.values.objects import (
    Choice,
    Object,
    is_constant,
    is_symbolic,
)


def settled(machine: Machine, arguments: list[Object]) -> list[Object]:
    """Settle the arguments as far as they were decided on this path."""
    return [machine.settle(argument) for argument in arguments]


def computes(function: Callable[..., Any]) -> Model:
    """Return a model that computes on constants and knows nothing else."""

    def model(machine: Machine, call: Call) -> Object:
        arguments = call.arguments
        arguments = settled(machine, arguments)
        if len(arguments) == 1 and isinstance(arguments[0], Choice):
            return join(
                machine, [model(machine, call.passing([option], call.keywords)) for option in arguments[0].options]
            )
        if not all(map(is_constant, arguments)) or not all(map(is_constant, call.keywords.values())):
            return machine.unknown("", not_none=True)
        if any(isinstance(argument, (str, bytes)) and len(argument) > LONGEST for argument in arguments) or is_symbolic(
            *arguments
        ):
            return machine.unknown("", not_none=True)
        try:
            found = function(*arguments, **call.keywords)
        except Exception as error:
            raise Raised(type(error).__name__, str(error)) from None
        return found if is_constant(found) and is_small(found) else machine.unknown("", not_none=True)

    return model
