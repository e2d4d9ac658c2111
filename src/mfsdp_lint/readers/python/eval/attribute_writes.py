"""Writing attributes."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.classes import is_frozen, lookup, mro, namespace
from mfsdp_lint.readers.python.eval.protocols import special
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.unseen import as_object
from mfsdp_lint.readers.python.values.classes import ClassObject, base_name
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import EITHER, HAZY
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    Descriptor,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Unknown,
)
from mfsdp_lint.vocabulary import NAMES
from mfsdp_lint.vocabulary.sections import SECTIONS


def _is_section(value: Unknown) -> bool:
    """Whether an unknown object is called like a section of a configuration."""
    return value.text.rpartition(".")[2] in SECTIONS


def set_attribute(
    machine: Machine,
    target: Object,
    name: str,
    value: Object,
    node: Any,
    frame: Frame,
    focus: Any = None,
    how: str = "assigned",
) -> None:
    """`target.name = value`, with the statement that does it as the origin."""
    if isinstance(target, Instance):
        cls = target.cls
        setter = _setter(machine, cls, name) if isinstance(cls, ClassObject) else None
        if setter is None:
            write(machine, target, name, value, node, frame, focus, how)
            return
        if isinstance(setter, Function):
            _through_hook(machine, setter, [target, name, value], node, frame, focus, how)
            return
        if isinstance(setter, Instance):
            method = special(machine, setter, "__set__")
            call(machine, method, [setter, target, value], {}, node, frame)
            return
        if isinstance(setter, Descriptor):
            if setter.setter is not None:
                _through_hook(machine, setter.setter, [target, value], node, frame, focus, how)
                return
            raise Raised("AttributeError", f"property '{name}' has no setter")
        write(machine, target, name, value, node, frame, focus, how)
    elif isinstance(target, Unknown):
        settled = machine.settle(target)
        if settled is not target:
            set_attribute(machine, settled, name, value, node, frame, focus, how)
        else:
            if name in NAMES and _is_section(target):
                machine.found_configuration()
            target = as_object(machine, target)
            write(machine, target, name, value, node, frame, focus, how)
            for one in target.fields.get(EITHER, ()):
                possible = join(machine, [value, one.fields[name] if name in one.fields else machine.unknown(name)])
                write(machine, one, name, possible, node, frame, focus, how)
    elif isinstance(target, Choice):
        # Which object is written is not known: each may be, or not.
        for option in target.options:
            if isinstance(option, (Instance, Unknown)):
                old = option.fields.get(name, MISSING)
                if old is MISSING and isinstance(option, Unknown):
                    old = machine.unknown(name)
                write(
                    machine,
                    option,
                    name,
                    value if old is MISSING else join(machine, [value, old]),
                    node,
                    frame,
                    focus,
                    how,
                )
    elif isinstance(target, Module):
        machine.put(target, name, value)
    elif isinstance(target, ClassObject):
        namespace(machine, target)
        machine.volatile.add(name)
        machine.put(target, name, value)
    elif isinstance(target, Function):
        target.defaults[name] = value
    elif isinstance(target, CONSTANTS):
        raise Raised("AttributeError", f"'{type(target).__name__}' object has no attribute '{name}'")


def _setter(machine: Machine, cls: ClassObject, name: str) -> Object:
    """What stores an attribute of a class's objects: its own `__setattr__`, a property, or None (Python itself)."""
    if name in cls.plain and name not in machine.volatile and "__setattr__" not in machine.volatile:
        return None
    hook, _ = lookup(machine, cls, "__setattr__")
    if isinstance(hook, Function):
        return hook
    attribute, _ = lookup(machine, cls, name)
    if isinstance(attribute, Descriptor) and attribute.kind == "property":
        return attribute
    if special(machine, attribute, "__set__") is not None:
        return attribute
    _check_place(machine, cls, name)
    cls.plain.add(name)
    return None


def _check_place(machine: Machine, cls: ClassObject, name: str) -> None:
    """Raises Raised where objects of a class keep no attribute of this name, or none that can be changed."""
    if is_frozen(machine, cls):
        raise Raised("FrozenInstanceError", f"cannot assign to field '{name}'")
    places: list[Object] = []
    for base in mro(machine, cls):
        if not isinstance(base, ClassObject) or "__slots__" not in namespace(machine, base):
            if base_name(base) != "object":
                return
            continue
        slots = namespace(machine, base)["__slots__"]
        slots = slots.items if isinstance(slots, ListObject) else (slots,) if isinstance(slots, str) else slots
        if not isinstance(slots, (tuple, list)):
            return
        places += slots
    if name not in places and "__dict__" not in places:
        raise Raised("AttributeError", f"'{cls.name}' object has no attribute '{name}'")


def write(
    machine: Machine, target: Any, key: Any, value: Object, node: Any, frame: Frame, focus: Any, how: str
) -> None:
    """Write one attribute or entry and record who did."""
    if key == "__class__" and isinstance(target, Instance):
        machine.record(target, HAZY, True)  # its fields stay; what the other class adds is not known
        return
    if type(target) is DictObject and target.view_of is not None:
        write(machine, target.view_of, key, value, node, frame, focus, how)
    writes = target.writes
    earlier = machine.before(target, key) if machine.tracing else writes.get(key)
    machine.put(target, key, value)
    machine.place(target, writes, key, machine.note(node, frame, focus, how, value, earlier))


def _through_hook(
    machine: Machine,
    hook: Object,
    arguments: list[Object],
    node: Any,
    frame: Frame,
    focus: Any,
    how: str,
) -> None:
    # The class's own code stores the value, and may store others with it; the origin is the outer statement.
    mark, born = len(machine.path.journal), machine.clock
    call(machine, hook, arguments, {}, node, frame)
    done = machine.path.journal[mark:]
    earlier = {(id(owner), key): old for owner, fields, key, old in done if fields is getattr(owner, "writes", None)}
    for owner, fields, key, _ in done:
        # What the hook hands on to a part of the object is this statement's doing as well.
        if isinstance(owner, Instance) and fields is owner.fields and abs(owner.born) <= born:
            before = earlier.get((id(owner), key))
            machine.record(owner, key, machine.note(node, frame, focus, how, owner.fields.get(key), before))
