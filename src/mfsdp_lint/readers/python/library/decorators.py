"""What decorators that are no code of the program make of a definition."""

from __future__ import annotations

from mfsdp_lint.readers.python.library.registry import BUILTINS
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.objects import (
    Descriptor,
    External,
    Function,
    Native,
    Object,
)


def decorate(machine: Machine, decorator: Object, value: Object) -> Object:
    """What a decorator that is no code of the program makes of a definition."""
    name = getattr(decorator, "name", "")
    last = name.rpartition(".")[2]
    if isinstance(decorator, (External, Native)):
        if last in ("staticmethod", "classmethod", "property", "cached_property", "abstractproperty"):
            return Descriptor({"cached_property": "property", "abstractproperty": "property"}.get(last, last), value)
        if last in ("contextmanager", "asynccontextmanager") and isinstance(value, Function):
            value.unwrapped = "contextmanager"
        if name in ("functools.cache", "functools.lru_cache") and isinstance(value, Function):
            value.unwrapped = value.unwrapped or "cached"
    # A decorator out of sight (a registry, a command-line entry, a cache) is taken to hand back what it was given.
    return value


for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        f"builtins.{_name}",
        lambda machine, arguments, keywords, frame, node, kind=_name: Descriptor(
            kind, arguments[0] if arguments else None
        ),
    )
