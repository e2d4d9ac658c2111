"""Decorators of Python and its library: the built-in ones called by name (`property(f)`), and `functools.wraps`."""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS, Model, models
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import (
    Descriptor,
    Function,
    Native,
    Object,
)


def _descriptor(kind: str) -> Model:
    return lambda machine, call: Descriptor(kind, call.arguments[0] if call.arguments else None)


for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(f"builtins.{_name}", _descriptor(_name))


@models("functools.wraps")
def _wraps(machine: Machine, call: Call) -> Object:
    wrapped = call.arguments[0] if call.arguments else call.keywords.get("wrapped")

    def decorate(machine: Machine, call: Call) -> Object:
        return _named_like(machine, call.arguments[0] if call.arguments else None, wrapped, call.frame)

    return Native(f"{MODELLED}functools.wraps", decorate)


@models("functools.update_wrapper")
def _update_wrapper(machine: Machine, call: Call) -> Object:
    wrapper = call.arguments[0] if call.arguments else call.keywords.get("wrapper")
    wrapped = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("wrapped")
    return _named_like(machine, wrapper, wrapped, call.frame)


def _named_like(machine: Machine, wrapper: Object, wrapped: Object, frame: Frame) -> Object:
    """Give a wrapper the name of the function that it wraps, and `__wrapped__`."""
    if isinstance(wrapper, Function):
        wrapper.fields["__wrapped__"] = wrapped
        wrapper.fields["__name__"] = get_attribute(machine, wrapped, "__name__", None, frame)
    return wrapper
