"""Attributes of functions, and of what Python itself brings along."""

from __future__ import annotations

from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    DictObject,
    Function,
    ListObject,
    Native,
    Object,
    Partial,
    SetObject,
)


def function_attribute(machine: Machine, value: Object, name: str) -> Object:
    """Return an attribute of a callable value that is no class."""
    if isinstance(value, Partial):
        if name == "func":
            return value.function
        if name == "args":
            return tuple(value.arguments)
        if name == "keywords":
            return DictObject(dict(value.keywords), machine.tick())
    if isinstance(value, Function):
        given: Object = value.fields.get(name, MISSING)
        if given is not MISSING:
            return given
    if name in ("__name__", "__qualname__"):
        target = value.function if isinstance(value, Bound) else value
        known = getattr(target, "name", None)
        return machine.unknown(name) if known is None else known.rpartition(".")[2]
    if isinstance(value, Function) and name == "__module__":
        return value.module.name
    if isinstance(value, Native):
        return unbound(machine, value, name)
    return machine.unknown(name)


def builtin_attribute(machine: Machine, value: Object, name: str) -> Object:
    """Return an attribute of a text, a number or a container. Raises Raised where it has none of this name."""
    python_type: type = dict if isinstance(value, DictObject) else type(value)
    if isinstance(value, ListObject):
        kinds: dict[str, type] = {"SetObject": set, "IteratorObject": type(iter(()))}
        python_type = kinds.get(type(value).__name__, list)
    if name == "__class__":
        return Native(f"builtins.{python_type.__name__}", lambda machine, call: machine.unknown())
    if python_type is dict and name == "move_to_end":
        return Bound(name, value)  # of an OrderedDict
    if not hasattr(python_type, name):
        raise Raised("AttributeError", f"'{python_type.__name__}' object has no attribute '{name}'")
    if isinstance(value, (int, float, complex)) and name in ("real", "imag", "numerator", "denominator"):
        part: Object = getattr(value, name)
        return part
    return Bound(name, value)


_ENTRIES = frozenset(("__getitem__", "__setitem__", "__delitem__", "__contains__", "__ior__"))
UNBOUND = {kind.__name__: kind for kind in (dict, list, str, set, tuple, int, float, bytes)}


def unbound(machine: Machine, kind: Native, name: str) -> Object:
    """Return a method taken from a built-in type: `dict.fromkeys`, `str.upper`."""
    python_type = UNBOUND.get(kind.name.removeprefix("builtins."))
    if python_type is None or (name.startswith("_") and name not in _ENTRIES):
        return machine.unknown(name)
    if not hasattr(python_type, name):
        raise Raised("AttributeError", f"type object '{python_type.__name__}' has no attribute '{name}'")

    def model(machine: Machine, call: Call) -> Object:
        if name == "fromkeys":
            return invoke(machine, Bound(name, DictObject({}, machine.tick())), call)
        owner = machine.settle(call.arguments[0]) if call.arguments else None
        kinds: dict[type, type] = {dict: DictObject, list: ListObject, set: SetObject}
        if not isinstance(owner, kinds.get(python_type, python_type)):
            for argument in call.arguments:
                havoc(machine, argument)
            return machine.unknown(name)
        return invoke(machine, Bound(name, owner), call.passing(call.arguments[1:], call.keywords))

    return Native(f"{kind.name}.{name}", model)
