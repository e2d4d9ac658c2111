"""The one registry of modelled functions, by dotted name; the modules of `library` fill it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import Native, Object

Model = Callable[[Machine, list[Object], dict[str, Object], Any, Frame], Object]


LIBRARY: dict[str, Model] = {}
"""The models by the dotted names of the functions."""

BUILTINS: dict[str, Object] = {}
"""What Python's own names stand for."""


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
    "pytest",
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
