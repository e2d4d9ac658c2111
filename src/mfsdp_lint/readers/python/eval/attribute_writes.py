"""Writing attributes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mfsdp_lint.megatron.vocabulary import NAMES, SECTIONS, SWITCHES
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import is_frozen, lookup, mro, namespace, special
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import as_object, forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.state.variables import replace_argv
from mfsdp_lint.readers.python.values.code import Call, base_name
from mfsdp_lint.readers.python.values.markers import ATTRIBUTES, EITHER, MAY_HAVE_CHANGED, VALIDATED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassObject,
    ConfigTree,
    Descriptor,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    StandardObject,
    Unknown,
)

AS_ENTRY: list[Callable[[Interpreter, ConfigTree, Object], Object]] = []
"""Makes an entry of a value that a tree of OmegaConf is given (library/config_trees.py)."""


_ALL_VALIDATED = ("megatron.training.global_vars.get_args()", "megatron.training.arguments.parse_and_validate_args()")
"""Calls that give Megatron-LM's arguments behind their validation."""
_SWITCHES = frozenset(path.rpartition(".")[2] for path in SWITCHES)


def set_attribute(
    interp: Interpreter,
    target: Object,
    name: str,
    value: Object,
    node: Any,
    frame: Frame,
    focus: Any = None,
    how: str = "assigned",
) -> None:
    """Run `target.name = value`, with its statement as the origin."""
    if isinstance(target, Instance):
        cls = target.cls
        setter = _setter(interp, cls, name) if isinstance(cls, ClassObject) else None
        if setter is None:
            write(interp, target, name, value, node, frame, focus, how)
            return
        if isinstance(setter, Function):
            _through_hook(interp, setter, [target, name, value], node, frame, focus, how)
            return
        if isinstance(setter, Instance):
            method = special(interp, setter, "__set__")
            invoke(interp, method, Call([setter, target, value], {}, node, frame))
            return
        if isinstance(setter, Descriptor):
            if setter.setter is not None:
                _through_hook(interp, setter.setter, [target, value], node, frame, focus, how)
                return
            raise Raised("AttributeError", f"property '{name}' has no setter")
        write(interp, target, name, value, node, frame, focus, how)
    elif isinstance(target, Unknown):
        settled = interp.settle(target)
        if settled is not target:
            set_attribute(interp, settled, name, value, node, frame, focus, how)
        else:
            if type(target) is StandardObject:
                standard_objects.write(interp, target, name, value)
            if name in NAMES and target.text.rpartition(".")[2] in SECTIONS:
                interp.found_configuration()
            validated = VALIDATED in target.fields or target.text in _ALL_VALIDATED
            if validated and name in _SWITCHES and value is not False:
                interp.dependencies.unjudged.add(f"assigns {name} to Megatron-LM's validated arguments")
            target = as_object(interp, target)
            write(interp, target, name, value, node, frame, focus, how)
            for one in target.fields.get(EITHER, ()):
                possible = join(interp, [value, one.fields[name] if name in one.fields else interp.unknown(name)])
                write(interp, one, name, possible, node, frame, focus, how)
    elif isinstance(target, Choice):
        # Which object is written is not known: each may be, or not.
        for option in target.options:
            if isinstance(option, (Instance, Unknown)):
                old = option.fields.get(name, MISSING)
                if old is MISSING and isinstance(option, Unknown):
                    old = interp.unknown(name)
                write(
                    interp,
                    option,
                    name,
                    value if old is MISSING else join(interp, [value, old]),
                    node,
                    frame,
                    focus,
                    how,
                )
    elif isinstance(target, DictObject) and target.cls is not None:
        hook, _ = lookup(interp, target.cls, "__setattr__")
        if hook is not MISSING:
            _through_hook(interp, hook, [target, name, value], node, frame, focus, how)
        elif name == "__dict__" and value is target:
            interp.record(target, ATTRIBUTES, True)
        elif ATTRIBUTES in target.writes:
            write(interp, target, name, value, node, frame, focus, how)
        else:
            forget_reachable(interp, target)
    elif isinstance(target, Module):
        resolve_global(interp, target, name)  # it runs first, and what the name was is settled
        interp.replaces(target, name, node, frame)
        interp.put(target, name, value)
    elif isinstance(target, ClassObject):
        namespace(interp, target)
        interp.replaces(target, name, node, frame)
        interp.volatile.add(name)
        interp.put(target, name, value)
        interp.record(target, name, interp.note(node, frame, focus, how, value, None))
    elif isinstance(target, Function):
        interp.put(target, name, value)
    elif target == External("sys") and name == "argv":
        replace_argv(interp, value, node, frame)
    elif isinstance(target, CONSTANTS):
        raise Raised("AttributeError", f"'{type(target).__name__}' object has no attribute '{name}'")


def _setter(interp: Interpreter, cls: ClassObject, name: str) -> Object:
    """Return the setter of an attribute of a class's objects: `__setattr__`, a descriptor, or None (Python itself)."""
    if name in cls.plain and name not in interp.volatile and "__setattr__" not in interp.volatile:
        return None
    hook, _ = lookup(interp, cls, "__setattr__")
    if isinstance(hook, Function):
        return hook
    attribute, _ = lookup(interp, cls, name)
    if isinstance(attribute, Descriptor) and attribute.kind == "property":
        return attribute
    if special(interp, attribute, "__set__") is not None:
        return attribute
    _check_place(interp, cls, name)
    cls.plain.add(name)
    return None


def _check_place(interp: Interpreter, cls: ClassObject, name: str) -> None:
    """Raise Raised if objects of a class keep no attribute of this name, or none that can be changed."""
    if is_frozen(interp, cls):
        raise Raised("FrozenInstanceError", f"cannot assign to field '{name}'")
    places: list[Object] = []
    for base in mro(interp, cls):
        if not isinstance(base, ClassObject) or "__slots__" not in namespace(interp, base):
            if base_name(base) != "object":
                return
            continue
        slots = namespace(interp, base)["__slots__"]
        slots = slots.items if isinstance(slots, ListObject) else (slots,) if isinstance(slots, str) else slots
        if not isinstance(slots, (tuple, list)):
            return
        places += slots
    if name not in places and "__dict__" not in places:
        raise Raised("AttributeError", f"'{cls.name}' object has no attribute '{name}'")


def write(
    interp: Interpreter, target: Any, key: Any, value: Object, node: Any, frame: Frame, focus: Any, how: str
) -> None:
    """Write one attribute or entry and record who did."""
    if key == "__class__" and isinstance(target, Instance):
        interp.record(target, MAY_HAVE_CHANGED, True)  # its fields stay; what the other class adds is not known
        return
    if type(target) is DictObject and target.view_of is not None:
        if isinstance(target.view_of, Instance):
            write_around(interp, target.view_of, key, value, node, frame, focus, how)
            return
        write(interp, target.view_of, key, value, node, frame, focus, how)
    if type(target) is ConfigTree and isinstance(key, str):
        value = AS_ENTRY[0](interp, target, value)
    writes = target.writes
    earlier = interp.before(target, key) if interp.tracing else writes.get(key)
    interp.put(target, key, value)
    interp.place(target, writes, key, interp.note(node, frame, focus, how, value, earlier))


def write_around(
    interp: Interpreter, target: Instance, key: Any, value: Object, node: Any, frame: Frame, focus: Any, how: str
) -> None:
    """Write one of an object's own attributes around its class's `__setattr__`.

    Where the class would have handed it on to a part of the object, the object and its part say different things then.
    """
    by_itself = frame.cls is not None and frame.cls in mro(interp, target.cls)
    hooked = isinstance(lookup(interp, target.cls, "__getattr__")[0], Function)
    if hooked and not by_itself and key not in target.fields:
        with suppress(Raised):
            value = join(interp, [value, get_attribute(interp, target, key, None, frame)])
    write(interp, target, key, value, node, frame, focus, how)


def _through_hook(
    interp: Interpreter,
    hook: Object,
    arguments: list[Object],
    node: Any,
    frame: Frame,
    focus: Any,
    how: str,
) -> None:
    # The class's own code stores the value, and may store others with it; the origin is the outer statement.
    mark, born = len(interp.path.journal), interp.clock
    invoke(interp, hook, Call(arguments, {}, node, frame))
    done = interp.path.journal[mark:]
    earlier = {(id(owner), key): old for owner, fields, key, old in done if fields is getattr(owner, "writes", None)}
    for owner, fields, key, _ in done:
        # What the hook hands on to a part of the object is this statement's doing as well.
        if isinstance(owner, Instance) and fields is owner.fields and abs(owner.born) <= born:
            before = earlier.get((id(owner), key))
            interp.record(owner, key, interp.note(node, frame, focus, how, owner.fields.get(key), before))
