"""The one registry of modelled functions, by dotted name, and the simplest kind of model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.containers import LONGEST
from mfsdp_lint.readers.python.state.machine import Frame, Machine, Raised, join
from mfsdp_lint.readers.python.values.limits import is_small
from mfsdp_lint.readers.python.values.objects import (
    Choice,
    Native,
    Object,
    is_constant,
    is_symbolic,
)

Model = Callable[[Machine, list[Object], dict[str, Object], Frame, Any], Object]

LIBRARY: dict[str, Model] = {}
BUILTINS: dict[str, Object] = {}

HARMLESS = {
    *sys.stdlib_module_names,
    "torch",
    "numpy",
    "builtins",
    "transformers",
    "rich",
    "loguru",
    "wandb",
    "tqdm",
} - {"copy"}
"""Packages whose functions do not change the configuration objects that are passed to them."""


def changes_nothing(name: str) -> bool:
    """Whether a call of this dotted name leaves its arguments as they are."""
    top = name.partition(".")[0]
    return top in HARMLESS or name.rpartition(".")[2] in ("print_rank_0", "warn_rank_0", "log_single_rank")


def models(*names: str) -> Callable[[Model], Model]:
    """Register the model of functions with these dotted names; a name without dot is a built-in."""

    def register(model: Model) -> Model:
        for name in names:
            LIBRARY[name] = model
            if name.startswith("builtins."):
                BUILTINS[name.removeprefix("builtins.")] = Native(name, model)
        return model

    return register


def settled(machine: Machine, arguments: list[Object]) -> list[Object]:
    """The arguments as far as they were decided on this way."""
    return [machine.settle(argument) for argument in arguments]


def computes(function: Callable[..., Any]) -> Model:
    """A model that computes on constants and knows nothing else."""

    def model(
        machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any
    ) -> Object:
        arguments = settled(machine, arguments)
        if any(isinstance(argument, Choice) for argument in arguments) and len(arguments) == 1:
            return join(machine, [model(machine, [option], keywords, frame, node) for option in arguments[0].options])
        if not all(map(is_constant, arguments)) or not all(map(is_constant, keywords.values())):
            return machine.unknown("", not_none=True)
        if any(isinstance(argument, (str, bytes)) and len(argument) > LONGEST for argument in arguments) or is_symbolic(
            *arguments
        ):
            return machine.unknown("", not_none=True)
        try:
            found = function(*arguments, **keywords)
        except Exception as error:
            raise Raised(type(error).__name__, str(error)) from None
        return found if is_constant(found) and is_small(found) else machine.unknown("", not_none=True)

    return model
