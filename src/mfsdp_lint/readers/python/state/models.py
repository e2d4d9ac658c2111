"""The one registry of modelled functions, by dotted name; the modules of `library` fill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import Native, Object

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.state.interpreter import Interpreter

Model = Callable[["Interpreter", Call], Object]


LIBRARY: dict[str, Model] = {}
"""The models by the dotted names of the functions."""

BUILTINS: dict[str, Object] = {}
"""The values of Python's own names."""


def models(*names: str) -> Callable[[Model], Model]:
    """Register the model of functions with these dotted names; a name without dot is a built-in."""

    def register(model: Model) -> Model:
        for name in names:
            LIBRARY[name] = model
            if name.startswith("builtins."):
                BUILTINS[name.removeprefix("builtins.")] = Native(name, model)
        return model

    return register
