"""Reading and writing attributes and entries."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.python.eval.classes import (
    ClassObject,
    base_name,
    bases,
    enum_members,
    fields_of,
    has_fields,
    is_enum,
    lookup,
    mro,
    namespace,
    opaque,
)
from mfsdp_lint.readers.python.state.machine import HAZY, Frame, Machine, Raised, join
from mfsdp_lint.readers.python.state.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    EITHER,
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    Super,
    Unknown,
)
from mfsdp_lint.vocabulary import NAMES
from mfsdp_lint.vocabulary.sections import SECTIONS


def get_attribute(machine: Machine, value: Object, name: str, frame: Frame, node: Any = None) -> Object:
    """`value.name`. Raises Raised("AttributeError") where Python would."""
    if isinstance(value, Instance):
        found = value.fields.get(name, MISSING)
        if found is not MISSING and not isinstance(found, Choice):
            return found
        return _instance_attribute(machine, value, name, frame, node, found)
    if isinstance(value, Unknown):
        settled = machine.settle(value)
        if settled is not value:
            return get_attribute(machine, settled, name, frame, node)
        text = f"{value.text}.{name}" if value.text else name
        return _of_either(machine, value, name, text) if EITHER in value.fields else part_of(machine, value, name, text)
    if isinstance(value, Module):
        return module_attribute(machine, value, name)
    if isinstance(value, External):
        return value.name.rpartition(".")[2] if name == "__name__" else External(f"{value.name}.{name}")
    if isinstance(value, ClassObject):
        return _class_attribute(machine, value, name, frame, node)
    if isinstance(value, Choice):
        return _over(machine, value, lambda option: get_attribute(machine, option, name, frame, node))
    if isinstance(value, EnumMember):
        return _member_attribute(machine, value, name, frame, node)
    if isinstance(value, Super):
        return _super_attribute(machine, value, name, frame, node)
    if isinstance(value, (Function, Native, Partial, Bound)):
        return _function_attribute(machine, value, name)
    if isinstance(value, (*CONSTANTS, tuple, frozenset, ListObject, DictObject)):
        return _builtin_attribute(machine, value, name)
    return machine.unknown(name)


def part_of(machine: Machine, value: Unknown, key: Any, text: str) -> Object:
    """An attribute or entry of an unknown value: the same one whenever it is asked for, and as old as the whole."""
    found = value.fields.get(key, MISSING)
    if found is MISSING:
        found = value.fields[key] = machine.unknown(text)
        found.born = value.born
    return found


def _of_either(machine: Machine, value: Unknown, name: str, text: str) -> Object:
    """An attribute of `config or other`: that of one of them."""
    if name in value.fields:
        return value.fields[name]
    parts = [one.fields.get(name, MISSING) for one in value.fields[EITHER]]
    if any(part is not MISSING and not isinstance(part, Unknown) for part in parts):
        return join(machine, [machine.unknown(text) if part is MISSING else part for part in parts])
    found = part_of(machine, value, name, text)
    found.fields[EITHER] = tuple(part_of(machine, one, name, f"{one.text}.{name}") for one in value.fields[EITHER])
    return found


def _over(machine: Machine, choice: Choice, read: Any) -> Object:
    found = []
    for option in choice.options:
        try:
            found.append(read(option))
        except Raised:
            machine.doubts += 1
    if not found:
        raise Raised("AttributeError", "no option has it")
    return join(machine, found)


def _instance_attribute(machine: Machine, value: Instance, name: str, frame: Frame, node: Any, found: Object) -> Object:
    if found is not MISSING:
        present = [option for option in found.options if option is not MISSING]
        machine.doubts += len(found.options) - len(present)
        return found if len(present) == len(found.options) else join(machine, present)
    if name == "__class__":
        return value.cls
    if name == "__dict__":
        return attributes_of(value)
    if isinstance(value.cls, Choice):
        return _attribute_of_candidates(machine, value, name, frame, node)
    attribute, _ = lookup(machine, value.cls, name)
    if attribute is not MISSING:
        return _bind(machine, attribute, value, value.cls, frame, node)
    hook, _ = lookup(machine, value.cls, "__getattr__")
    if isinstance(hook, Function):
        from mfsdp_lint.readers.python.eval.calls import call

        return call(machine, hook, [value, name], {}, node, frame)
    if value.writes.get(HAZY) or opaque(machine, value.cls):
        found = machine.unknown(f"{value.cls.name}.{name}")
        machine.put(value, name, found)
        return found
    raise Raised("AttributeError", f"'{value.cls.name}' object has no attribute '{name}'")


def attributes_of(value: Instance) -> DictObject:
    """`vars(value)`: the object's own attributes, so that what is written to one is written to the other."""
    found = DictObject(value.fields, value.born)
    found.writes = value.writes
    return found


def class_attribute(machine: Machine, value: Instance, name: str) -> Object:
    """What `value.name` is where the object has no such field of its own; MISSING where it is an error."""
    if isinstance(value.cls, Choice):
        return machine.unknown(name)
    attribute, _ = lookup(machine, value.cls, name)
    if attribute is MISSING:
        hooked = isinstance(lookup(machine, value.cls, "__getattr__")[0], Function)
        return machine.unknown(name) if hooked or opaque(machine, value.cls) else MISSING
    if isinstance(attribute, Descriptor):
        return machine.unknown(name)
    return Bound(attribute, value) if isinstance(attribute, Function) else attribute


def _attribute_of_candidates(machine: Machine, value: Instance, name: str, frame: Frame, node: Any) -> Object:
    found: list[Object] = []
    for cls in value.cls.options:
        attribute, _ = lookup(machine, cls, name)
        if attribute is not MISSING:
            found.append(_bind(machine, attribute, value, cls, frame, node))
        elif opaque(machine, cls):
            found.append(machine.unknown(name))
    if not found:
        raise Raised("AttributeError", f"no attribute '{name}'")
    return join(machine, found) if len(found) == len(value.cls.options) else machine.unknown(name)


def _bind(machine: Machine, attribute: Object, owner: Object, cls: Object, frame: Frame, node: Any) -> Object:
    if isinstance(attribute, Function):
        return Bound(attribute, owner)
    if isinstance(attribute, Descriptor):
        if attribute.kind == "property":
            from mfsdp_lint.readers.python.eval.calls import call

            return call(machine, attribute.function, [owner], {}, node, frame)
        return attribute.function if attribute.kind == "staticmethod" else Bound(attribute.function, cls)
    if isinstance(attribute, Partial) and getattr(attribute.function, "name", "") == "dataclasses.field":
        return attribute.keywords.get("default", machine.unknown("field"))
    return attribute


def _class_attribute(machine: Machine, cls: ClassObject, name: str, frame: Frame, node: Any) -> Object:
    if is_enum(machine, cls):
        members = enum_members(machine, cls)
        if name in members:
            return members[name]
        if name == "__members__":
            return DictObject(dict(members), machine.tick())
    attribute, _ = lookup(machine, cls, name)
    if attribute is not MISSING:
        if isinstance(attribute, Descriptor):
            return Bound(attribute.function, cls) if attribute.kind == "classmethod" else attribute.function
        if isinstance(attribute, Partial) and getattr(attribute.function, "name", "") == "dataclasses.field":
            return attribute.keywords.get("default", machine.unknown(name))
        return attribute
    if name in ("__name__", "__qualname__"):
        return cls.name
    if name == "__module__":
        return cls.module.name
    if name == "__mro__":
        return tuple(mro(machine, cls))
    if name == "__dataclass_fields__" and has_fields(machine, cls):
        key = (name, cls)
        if key not in machine.memory:
            specs = {spec.name: Unknown(0, spec.name, not_none=True) for spec in fields_of(machine, cls)}
            machine.memory[key] = DictObject(dict(specs), 0)
        return machine.memory[key]
    if name == "__bases__":
        return tuple(bases(machine, cls))
    if opaque(machine, cls) or name.startswith("__"):
        return machine.unknown(f"{cls.name}.{name}")
    raise Raised("AttributeError", f"type object '{cls.name}' has no attribute '{name}'")


def _member_attribute(machine: Machine, member: EnumMember, name: str, frame: Frame, node: Any) -> Object:
    if name in ("name", "_name_"):
        return member.name
    if name in ("value", "_value_"):
        return member.value
    if isinstance(member.cls, ClassObject):
        if name == "__class__":
            return member.cls
        attribute, _ = lookup(machine, member.cls, name)
        if attribute is not MISSING:
            return _bind(machine, attribute, member, member.cls, frame, node)
        if isinstance(member.value, (*CONSTANTS, tuple)) and hasattr(type(member.value), name):
            return _builtin_attribute(machine, member.value, name)
    return machine.unknown(name)


def _super_attribute(machine: Machine, value: Super, name: str, frame: Frame, node: Any) -> Object:
    cls = value.owner.cls if isinstance(value.owner, (Instance, EnumMember)) else value.owner
    for candidate in cls.options if isinstance(cls, Choice) else (cls,):
        if not isinstance(candidate, ClassObject):
            continue
        attribute, _ = lookup(machine, candidate, name, after=value.after)
        if attribute is not MISSING:
            return _bind(machine, attribute, value.owner, candidate, frame, node)
        if name in ("__init__", "__post_init__", "__init_subclass__", "__setattr__", "__getattribute__"):
            return Bound(External(f"object.{name}"), value.owner)
        if not opaque(machine, candidate):
            raise Raised("AttributeError", f"'super' object has no attribute '{name}'")
    return machine.unknown(f"super().{name}")


def _function_attribute(machine: Machine, value: Object, name: str) -> Object:
    if isinstance(value, Partial):
        if name == "func":
            return value.function
        if name == "args":
            return tuple(value.arguments)
        if name == "keywords":
            return DictObject(dict(value.keywords), machine.tick())
    if isinstance(value, Function) and name in value.defaults and name == "__wrapped__":
        return value.defaults[name]
    if name in ("__name__", "__qualname__"):
        target = value.function if isinstance(value, Bound) else value
        known = getattr(target, "name", None)
        return machine.unknown(name) if known is None else known.rpartition(".")[2]
    if isinstance(value, Function) and name == "__module__":
        return value.module.name
    if isinstance(value, Native):
        from mfsdp_lint.readers.python.library import unbound

        return unbound(machine, value, name)
    return machine.unknown(name)


def _builtin_attribute(machine: Machine, value: Object, name: str) -> Object:
    python_type: type = dict if isinstance(value, DictObject) else type(value)
    if isinstance(value, ListObject):
        kinds: dict[str, type] = {"SetObject": set, "IteratorObject": type(iter(()))}
        python_type = kinds.get(type(value).__name__, list)
    if name == "__class__":
        return Native(f"builtins.{python_type.__name__}", lambda *a, **k: machine.unknown())
    if not hasattr(python_type, name):
        raise Raised("AttributeError", f"'{python_type.__name__}' object has no attribute '{name}'")
    if isinstance(value, (int, float, complex)) and name in ("real", "imag", "numerator", "denominator"):
        return getattr(value, name)
    return Bound(name, value)


def module_attribute(machine: Machine, module: Module, name: str) -> Object:
    """A global name of a module, or a submodule; Raised("AttributeError") where there is neither."""
    from mfsdp_lint.readers.python.eval.imports import resolve_global

    found = resolve_global(machine, module, name)
    if found is MISSING:
        raise Raised("AttributeError", f"module '{module.name}' has no attribute '{name}'")
    return found


def has_attribute(machine: Machine, value: Object, name: str, frame: Frame, node: Any = None) -> bool | None:
    """`hasattr(value, name)`; None when that cannot be known."""
    if isinstance(value, Unknown) and machine.settle(value) is value:
        return True if name in value.writes else None
    if isinstance(value, External):
        return None
    if isinstance(value, Instance):
        if name in value.fields:
            found = value.fields[name]
            return None if isinstance(found, Choice) and MISSING in found.options else True
        if isinstance(value.cls, Choice):
            answers = {_class_has(machine, cls, name) for cls in value.cls.options}
            return answers.pop() if len(answers) == 1 else None
        hook, _ = lookup(machine, value.cls, "__getattr__")
        if not isinstance(hook, Function):
            return (
                _class_has(machine, value.cls, name)
                if not value.writes.get(HAZY)
                else (_class_has(machine, value.cls, name) or None)
            )
    if isinstance(value, Choice):
        options = {has_attribute(machine, option, name, frame, node) for option in value.options}
        return options.pop() if len(options) == 1 else None
    try:
        found = get_attribute(machine, value, name, frame, node)
    except Raised as error:
        return False if error.name == "AttributeError" else None
    return None if isinstance(found, Unknown) and not found.not_none and not isinstance(value, Instance) else True


def _class_has(machine: Machine, cls: Object, name: str) -> bool | None:
    if lookup(machine, cls, name)[0] is not MISSING:
        return True
    return None if opaque(machine, cls) else False


def _is_section(value: Unknown) -> bool:
    """Whether an unknown object is called like a section of a configuration."""
    return value.text.rpartition(".")[2] in SECTIONS


def set_attribute(
    machine: Machine,
    target: Object,
    name: str,
    value: Object,
    frame: Frame,
    node: Any,
    focus: Any = None,
    how: str = "assigned",
) -> None:
    """`target.name = value`, with the statement that does it as the origin."""
    if isinstance(target, Instance):
        cls = target.cls
        setter = _setter(machine, cls, name) if isinstance(cls, ClassObject) else None
        if isinstance(setter, Function):
            _through_hook(machine, setter, target, name, value, frame, node, focus, how)
            return
        if setter is not None:
            if setter.setter is not None:
                from mfsdp_lint.readers.python.eval.calls import call

                call(machine, setter.setter, [target, value], {}, node, frame)
                return
            raise Raised("AttributeError", f"property '{name}' has no setter")
        write(machine, target, name, value, frame, node, focus, how)
    elif isinstance(target, Unknown):
        settled = machine.settle(target)
        if settled is not target:
            set_attribute(machine, settled, name, value, frame, node, focus, how)
        else:
            if name in NAMES and _is_section(target):
                machine.found_configuration()
            write(machine, target, name, value, frame, node, focus, how)
            for one in target.fields.get(EITHER, ()):
                possible = join(machine, [value, one.fields[name] if name in one.fields else machine.unknown(name)])
                write(machine, one, name, possible, frame, node, focus, how)
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
                    frame,
                    node,
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
    cls.plain.add(name)
    return None


def write(
    machine: Machine, target: Any, key: Any, value: Object, frame: Frame, node: Any, focus: Any, how: str
) -> None:
    """Write one attribute or entry and record who did."""
    earlier = machine.before(target, key)
    machine.put(target, key, value)
    machine.record(target, key, machine.note(frame, node, focus, how, value, earlier))


def _through_hook(
    machine: Machine,
    hook: Function,
    target: Instance,
    name: str,
    value: Object,
    frame: Frame,
    node: Any,
    focus: Any,
    how: str,
) -> None:
    # The class's own __setattr__ stores the value, and may store others with it; the origin is the outer statement.
    from mfsdp_lint.readers.python.eval.calls import call

    mark, born = len(machine.journal), machine.clock
    call(machine, hook, [target, name, value], {}, node, frame)
    done = machine.journal[mark:]
    earlier = {(id(owner), key): old for owner, fields, key, old in done if fields is getattr(owner, "writes", None)}
    for owner, fields, key, _ in done:
        # What the hook hands on to a part of the object is this statement's doing as well.
        if isinstance(owner, Instance) and fields is owner.fields and abs(owner.born) <= born:
            before = earlier.get((id(owner), key))
            machine.record(owner, key, machine.note(frame, node, focus, how, owner.fields.get(key), before))


def class_names(machine: Machine, cls: Object) -> list[str]:
    """The dotted names of a class and all its bases."""
    if isinstance(cls, ClassObject):
        return [base.qualified_name if isinstance(base, ClassObject) else base_name(base) for base in mro(machine, cls)]
    return [base_name(cls)]
