"""Decorators of Python and its library: the built-in ones called by name (`property(f)`), and `functools.wraps`."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS, models
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import (
    Descriptor,
    Function,
    Native,
    Object,
)

for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        f"builtins.{_name}",
        lambda machine, arguments, keywords, node, frame, kind=_name: Descriptor(
            kind, arguments[0] if arguments else None
        ),
    )


@models("functools.wraps")
def _wraps(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    wrapped = arguments[0] if arguments else keywords.get("wrapped")

    def decorate(machine: Machine, given: list[Object], _: Any, node: Any, frame: Frame) -> Object:
        return _named_like(machine, given[0] if given else None, wrapped, frame)

    return Native(f"{MODELLED}functools.wraps", decorate)


@models("functools.update_wrapper")
def _update_wrapper(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    wrapper = arguments[0] if arguments else keywords.get("wrapper")
    wrapped = arguments[1] if len(arguments) > 1 else keywords.get("wrapped")
    return _named_like(machine, wrapper, wrapped, frame)


def _named_like(machine: Machine, wrapper: Object, wrapped: Object, frame: Frame) -> Object:
    """Give a wrapper the name of the function that it wraps, and `__wrapped__`."""
    if isinstance(wrapper, Function):
        wrapper.fields["__wrapped__"] = wrapped
        wrapper.fields["__name__"] = get_attribute(machine, wrapped, "__name__", None, frame)
    return wrapper
