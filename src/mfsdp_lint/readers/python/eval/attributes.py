"""Attributes: reading them, of the program's objects and of functions and types that Python brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.megatron.conditions import agreed
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.class_views import direct_bases, order, own_annotations, own_attributes
from mfsdp_lint.readers.python.eval.classes import (
    GENERATED_INIT,
    NAMED_TUPLE,
    enum_members,
    fields_of,
    generated_init,
    has_base,
    has_fields,
    is_enum,
    lookup,
    may_have_more,
    metaclass,
    mro,
    opaque,
    special,
)
from mfsdp_lint.readers.python.eval.configurations import TRAINER, class_of
from mfsdp_lint.readers.python.eval.imports import outside, resolve_global
from mfsdp_lint.readers.python.eval.path_objects import READS_FILE, part_of_path, path_attribute, reading
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import LIBRARY, ByType, Coroutine, GeneratorCall, invoke
from mfsdp_lint.readers.python.state.effects import changes_nothing_of_its_object
from mfsdp_lint.readers.python.state.forgetting import as_object, forget_reachable, part_of
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join, over_options
from mfsdp_lint.readers.python.state.variables import own_argv
from mfsdp_lint.readers.python.values.code import Call, base_name, classes_of
from mfsdp_lint.readers.python.values.markers import ATTRIBUTES, EITHER, MAY_HAVE_CHANGED, METHOD_OF, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    ConfigTree,
    Descriptor,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    Interpolation,
    ListObject,
    Module,
    Native,
    Object,
    Option,
    Partial,
    PartlyKnown,
    PathObject,
    SetObject,
    StandardObject,
    Super,
    Unknown,
)


def function_attribute(interp: Interpreter, value: Object, name: str, *_: Any) -> Object:
    """Return an attribute of a callable value that is no class."""
    if isinstance(value, Partial):
        if name == "func":
            return value.function
        if name == "args":
            return tuple(value.arguments)
        if name == "keywords":
            return DictObject(dict(value.keywords), interp.tick())
    if isinstance(value, Function):
        given: Object = value.fields.get(name, MISSING)
        if given is not MISSING:
            return given
    if name in ("__name__", "__qualname__"):
        target = value.function if isinstance(value, Bound) else value
        known = getattr(target, "name", None)
        return interp.unknown(name) if known is None else known.rpartition(".")[2]
    if isinstance(value, Function) and name == "__module__":
        return value.module.name
    if isinstance(value, Native):
        return unbound(interp, value, name)
    return interp.unknown(name)


def builtin_attribute(interp: Interpreter, value: Object, name: str, *_: Any) -> Object:
    """Return an attribute of a text, a number or a container. Raises Raised where it has none of this name."""
    if isinstance(value, DictObject) and value.cls is not None:
        found = _table_attribute(interp, value, value.cls, name)
        if found is not MISSING:
            return found
    python_type: type = dict if isinstance(value, DictObject) else type(value)
    if isinstance(value, ListObject):
        kinds: dict[str, type] = {"SetObject": set, "IteratorObject": type(iter(()))}
        python_type = kinds.get(type(value).__name__, list)
    if name == "__class__":
        return Native(f"builtins.{python_type.__name__}", lambda interp, call: interp.unknown())
    if python_type is dict and name == "move_to_end":
        return Bound(name, value)  # of an OrderedDict
    if not hasattr(python_type, name):
        raise Raised("AttributeError", f"'{python_type.__name__}' object has no attribute '{name}'")
    if isinstance(value, (int, float, complex)) and name in ("real", "imag", "numerator", "denominator"):
        part: Object = getattr(value, name)
        return part
    return Bound(name, value)


def _table_attribute(interp: Interpreter, value: DictObject, cls: ClassObject, name: str) -> Object:
    """Return an attribute of a dictionary of a class of the program's own; MISSING where it has that of any."""
    node, frame = cls.node, cls.closure or Frame(cls.module)
    if name == "__class__":
        return cls
    if ATTRIBUTES in value.writes and (entry := value.fields.get(name, MISSING)) is not MISSING:
        return entry
    attribute, _ = lookup(interp, cls, name)
    if attribute is not MISSING:
        return _bind(interp, attribute, value, cls, node, frame)
    hook, _ = (MISSING, None) if hasattr(dict, name) else lookup(interp, cls, "__getattr__")
    return MISSING if hook is MISSING else invoke(interp, hook, Call([value, name], {}, node, frame))


_ENTRIES = frozenset(("__init__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__ior__"))
UNBOUND = {kind.__name__: kind for kind in (dict, list, str, set, tuple, int, float, bytes)}


def unbound(interp: Interpreter, kind: Native, name: str) -> Object:
    """Return a method taken from a built-in type: `dict.fromkeys`, `str.upper`."""
    python_type = UNBOUND.get(kind.name.removeprefix("builtins."))
    if python_type is None or (name.startswith("_") and name not in _ENTRIES):
        return interp.unknown(name)
    if modelled := LIBRARY.get(f"{kind.name}.{name}"):
        return Native(f"{kind.name}.{name}", modelled)
    if not hasattr(python_type, name):
        raise Raised("AttributeError", f"type object '{python_type.__name__}' has no attribute '{name}'")

    def model(interp: Interpreter, call: Call) -> Object:
        if name == "fromkeys":
            return invoke(interp, Bound(name, DictObject({}, interp.tick())), call)
        owner = interp.settle(call.arguments[0]) if call.arguments else None
        kinds: dict[type, type] = {dict: DictObject, list: ListObject, set: SetObject}
        if not isinstance(owner, kinds.get(python_type, python_type)):
            for argument in call.arguments:
                forget_reachable(interp, argument)
            return interp.unknown(name)
        return invoke(interp, Bound(name, owner), call.passing(call.arguments[1:], call.keywords))

    return Native(f"{kind.name}.{name}", model)


INTERPOLATED: list[Callable[[Interpreter, ConfigTree, Interpolation, Frame], Object]] = []
"""Reads an entry that OmegaConf works out (library/config_trees.py)."""


def get_attribute(interp: Interpreter, value: Object, name: str, node: Any, frame: Frame) -> Object:
    """Return `value.name`. Raises Raised("AttributeError") where Python would."""
    if isinstance(value, Instance):
        found = value.fields.get(name, MISSING)
        if found is not MISSING and not isinstance(found, Choice):
            return found
        return _instance_attribute(interp, value, name, node, frame, found)
    return READERS[type(value)](interp, value, name, node, frame)


def _unknown_attribute(interp: Interpreter, value: Unknown, name: str, node: Any, frame: Frame) -> Object:
    settled = interp.settle(value)
    if name in READS_FILE and type(value) in (Option, PartlyKnown) and (settled is value or settled is None):
        interp.dependencies.asks_file.add(frame.module)
        if interp.tries_files and type(value) is Option:
            return reading(name, value)
    if type(value) is PartlyKnown and (found := part_of_path(interp, value, name)) is not MISSING:
        return found
    if settled is not value:
        return _of_option(interp, value, settled, name, node, frame)
    if type(value) is PathObject and (found := path_attribute(interp, value, name)) is not MISSING:
        return found
    if type(value) is StandardObject and (found := standard_objects.attribute(interp, value, name)) is not MISSING:
        return found
    if type(value) is ConfigTree and type(entry := value.fields.get(name)) is Interpolation:
        return INTERPOLATED[0](interp, value, entry, frame)
    if type(value) is ConfigTree and f"omegaconf.DictConfig.{name}" in LIBRARY:
        return Partial(Native(name, LIBRARY[f"omegaconf.DictConfig.{name}"]), [value], {})
    value = as_object(interp, value)
    if name == "fit" and class_of(value) == TRAINER:
        return Partial(Native(name, LIBRARY["nemo.lightning.Trainer.fit"]), [value], {})
    if name == "__dict__":
        return attributes_of_unknown(interp, value)
    if name in OF_OBJECTS:
        return Partial(OF_OBJECTS[name], [value], {})
    text = f"{value.text}.{name}" if value.text else name
    return _of_either(interp, value, name, text) if EITHER in value.fields else part_of(interp, value, name, text)


def _of_option(interp: Interpreter, value: Unknown, settled: Object, name: str, node: Any, frame: Frame) -> Object:
    """Return an attribute of an unknown value's known one; the result of an option's method is the option's as well."""
    if type(value) is Option and settled is None:
        # Whoever starts the program has to give it: without it, it stops here.
        return part_of(interp, value, name, f"{value.text}.{name}")
    found = get_attribute(interp, settled, name, node, frame)
    return Bound(found.function, value) if type(value) is Option and type(found) is Bound else found


def _of_either(interp: Interpreter, value: Unknown, name: str, text: str) -> Object:
    """Return an attribute of `config or other`: the attribute of one of them."""
    known: Object = value.fields.get(name, MISSING)
    if known is not MISSING:
        return known
    parts = [one.fields.get(name, MISSING) for one in value.fields[EITHER]]
    if any(part is not MISSING and not isinstance(part, Unknown) for part in parts):
        return join(interp, [interp.unknown(text) if part is MISSING else part for part in parts])
    found = part_of(interp, value, name, text)
    if isinstance(found, Unknown):
        found.fields[EITHER] = tuple(part_of(interp, one, name, f"{one.text}.{name}") for one in value.fields[EITHER])
    return found


def _instance_attribute(
    interp: Interpreter, value: Instance, name: str, node: Any, frame: Frame, found: Object
) -> Object:
    if isinstance(found, Choice):
        present = [option for option in found.options if option is not MISSING]
        interp.doubts += len(found.options) - len(present)
        return found if len(present) == len(found.options) else join(interp, present)
    if name == "__class__":
        return value.cls
    if name == "__dict__":
        return attributes_of(interp, value)
    if name in ("__dataclass_fields__", "__annotations__") and isinstance(value.cls, ClassObject):
        return _class_attribute(interp, value.cls, name, node, frame)
    if not isinstance(value.cls, ClassObject):
        return _attribute_of_candidates(interp, value, name, node, frame)
    attribute, _ = lookup(interp, value.cls, name)
    if attribute is not MISSING and _may_be_hidden(interp, value, attribute):
        return interp.unknown(name)
    if attribute is not MISSING:
        found = _bind(interp, attribute, value, value.cls, node, frame)
        if isinstance(attribute, Descriptor) and attribute.kind == "cached_property":
            interp.put(value, name, found)
        return found
    hook, _ = lookup(interp, value.cls, "__getattr__")
    if isinstance(hook, Function):
        return invoke(interp, hook, Call([value, name], {}, node, frame))
    if name in OF_OBJECTS:
        return Partial(OF_OBJECTS[name], [value], {})
    if value.writes.get(MAY_HAVE_CHANGED) or may_have_more(interp, value.cls):
        found = _out_of_sight(interp, value, value.cls, name)
        interp.put(value, name, found)
        return found
    if hasattr(object, name):
        return _out_of_sight(interp, value, value.cls, name)
    if name in OF_BASES and has_base(interp, value.cls, *BASES_WITH_MORE):
        return interp.unknown(f"{value.cls.name}.{name}")
    if value.cls.given_by is not None:  # a decorator may have made another class of it
        return interp.unknown(f"{value.cls.name}.{name}")
    raise Raised("AttributeError", f"'{value.cls.name}' object has no attribute '{name}'")


OF_OBJECTS: dict[str, Native] = {
    "__setattr__": Native("builtins.setattr", lambda interp, call: LIBRARY["builtins.setattr"](interp, call)),
    "__delattr__": Native("builtins.delattr", lambda interp, call: LIBRARY["builtins.delattr"](interp, call)),
    "__getattribute__": Native("builtins.getattr", lambda interp, call: LIBRARY["builtins.getattr"](interp, call)),
}
"""Methods that every object has, where its class does not say otherwise, and the functions that call them."""

LOOKING = frozenset(
    ("__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__format__", "__sizeof__", "__dir__", "__reduce__",
     "__reduce_ex__", "__getstate__", "__lt__", "__le__", "__gt__", "__ge__")
)  # fmt: skip
"""Methods of objects that leave them as they are."""


def _out_of_sight(interp: Interpreter, value: Instance, cls: ClassObject, name: str) -> Unknown:
    """Return an attribute that an object's class has out of sight: if it is a method, a call may change the object."""
    found = interp.unknown(f"{cls.name}.{name}")
    names = [f"{base_name(base)}.{name}" for base in mro(interp, cls) if not isinstance(base, ClassObject)]
    if name not in LOOKING and not changes_nothing_of_its_object(name, names):
        found.fields[METHOD_OF] = value
    return found


BASES_WITH_MORE = (
    "typing.NamedTuple",
    "BaseException",
    "Exception",
    "ValueError",
    "RuntimeError",
    "TypeError",
    "KeyError",
)
OF_BASES = frozenset((*dir(tuple), *dir(BaseException), "_replace", "_asdict", "_fields", "_make"))
"""Attributes that objects inherit from these bases, and that no class of the program shows."""


def _may_be_hidden(interp: Interpreter, value: Instance, attribute: Object) -> bool:
    """Tell whether code out of sight may have given an object an attribute of its own in place of its class's."""
    changed = value.writes.get(MAY_HAVE_CHANGED) and not isinstance(attribute, (Function, Descriptor))
    return bool(changed) and not (isinstance(value.cls, ClassObject) and opaque(interp, value.cls))


def attributes_of(interp: Interpreter, value: Instance) -> DictObject:
    """Return `vars(value)`: the object's own attributes, shared so that a write to one is a write to the other."""
    found = DictObject(value.fields, value.born)
    found.writes = value.writes
    if isinstance(lookup(interp, value.cls, "__getattr__")[0], Function):
        found.view_of = value
    return found


def attributes_of_unknown(interp: Interpreter, value: Unknown) -> DictObject:
    """Return `vars(value)` of an unknown value: its attributes as far as they are known; writes reach the value."""
    value = as_object(interp, value)
    known = {name: part for name, part in value.fields.items() if isinstance(name, str)}
    found = DictObject(known, interp.tick())
    found.view_of = value
    if WHOLE not in value.fields:
        found.writes[MAY_HAVE_CHANGED] = True
    return found


def class_attribute(interp: Interpreter, value: Instance, name: str) -> Object:
    """Return `value.name` where the object has no such field of its own; MISSING where it is an error."""
    if not isinstance(value.cls, ClassObject):
        return interp.unknown(name)
    attribute, _ = lookup(interp, value.cls, name)
    if attribute is MISSING:
        hooked = isinstance(lookup(interp, value.cls, "__getattr__")[0], Function)
        is_open = hooked or value.cls.given_by is not None or opaque(interp, value.cls)
        return interp.unknown(name) if is_open else MISSING
    if isinstance(attribute, Descriptor):
        return interp.unknown(name)
    return Bound(attribute, value) if isinstance(attribute, Function) else attribute


def _attribute_of_candidates(interp: Interpreter, value: Instance, name: str, node: Any, frame: Frame) -> Object:
    found: list[Object] = []
    classes = classes_of(value)
    for cls in classes:
        attribute = lookup(interp, cls, name)[0] if isinstance(cls, ClassObject) else MISSING
        if attribute is not MISSING:
            found.append(_bind(interp, attribute, value, cls, node, frame))
        elif not isinstance(cls, ClassObject) or opaque(interp, cls):
            found.append(interp.unknown(name))
    if value.writes.get(MAY_HAVE_CHANGED):
        found.append(interp.unknown(name))
    if not found:
        raise Raised("AttributeError", f"no attribute '{name}'")
    return join(interp, found) if len(found) == len(classes) else interp.unknown(name)


def _bind(interp: Interpreter, attribute: Object, owner: Object, cls: Object, node: Any, frame: Frame) -> Object:
    if isinstance(attribute, Function):
        return Bound(attribute, owner)
    if isinstance(attribute, Descriptor):
        if attribute.kind in ("property", "cached_property"):
            return invoke(interp, attribute.function, Call([owner], {}, node, frame))
        return attribute.function if attribute.kind == "staticmethod" else Bound(attribute.function, cls)
    if isinstance(attribute, Partial) and getattr(attribute.function, "name", "") == "dataclasses.field":
        return attribute.keywords.get("default", interp.unknown("field"))
    if isinstance(attribute, Partial) and attribute.method:
        return Partial(attribute.function, [owner, *attribute.arguments], attribute.keywords)
    getter = special(interp, attribute, "__get__")
    if getter is not None:
        return invoke(interp, getter, Call([attribute, owner, cls], {}, node, frame))
    return attribute


def _class_attribute(interp: Interpreter, cls: ClassObject, name: str, node: Any, frame: Frame) -> Object:
    if is_enum(interp, cls):
        members = enum_members(interp, cls)
        if name in members:
            return members[name]
        if name == "__members__":
            return DictObject(dict(members), interp.tick())
    attribute, _ = lookup(interp, cls, name)
    if attribute is not MISSING:
        if isinstance(attribute, Descriptor):
            return Bound(attribute.function, cls) if attribute.kind == "classmethod" else attribute.function
        if isinstance(attribute, Partial) and getattr(attribute.function, "name", "") == "dataclasses.field":
            return attribute.keywords.get("default", interp.unknown(name))
        return attribute
    if name in ("__name__", "__qualname__"):
        return cls.name
    if name == "__module__":
        return cls.module.name
    if name == "__mro__":
        found = order(interp, cls)
        return interp.unknown(f"{cls.name}.__mro__", not_none=True) if found is None else found
    if name == "__dataclass_fields__" and has_fields(interp, cls):
        key = (name, cls)
        if key not in interp.memo:
            specs = {spec.name: Unknown(0, spec.name, not_none=True) for spec in fields_of(interp, cls)}
            interp.memo[key] = DictObject(dict(specs), 0)
        described: Object = interp.memo[key]
        return described
    if name == "__init__" and (filled := generated_init(interp, cls)) is not None:
        return Partial(External(GENERATED_INIT), [filled], {})
    if name == "__bases__":
        return direct_bases(interp, cls)
    if name == "__dict__":
        own = own_attributes(interp, cls)
        return interp.unknown(f"vars({cls.name})", not_none=True) if own is None else own
    if name == "__annotations__" and (said := own_annotations(interp, cls)) is not None:
        return said
    meta = metaclass(interp, cls)
    attribute = lookup(interp, meta, name)[0] if isinstance(meta, ClassObject) else MISSING
    if attribute is not MISSING:
        return _bind(interp, attribute, cls, meta, node, frame)
    if name in ("mro", "__subclasses__"):
        return Partial(Native(f"type.{name}", LIBRARY[f"type.{name}"]), [cls], {})
    if name in OF_OBJECTS:
        return External(f"object.{name}")
    if cls.given_by is not None or may_have_more(interp, cls) or name.startswith("__"):
        return interp.unknown(f"{cls.name}.{name}")
    raise Raised("AttributeError", f"type object '{cls.name}' has no attribute '{name}'")


def _member_attribute(interp: Interpreter, member: EnumMember, name: str, node: Any, frame: Frame) -> Object:
    if name in member.fields:
        return member.fields[name]
    if name in ("name", "_name_"):
        return member.name
    if name in ("value", "_value_"):
        return member.value
    if isinstance(member.cls, ClassObject):
        if name == "__class__":
            return member.cls
        attribute, _ = lookup(interp, member.cls, name)
        if attribute is not MISSING:
            return _bind(interp, attribute, member, member.cls, node, frame)
        if isinstance(member.value, (*CONSTANTS, tuple)) and hasattr(type(member.value), name):
            return builtin_attribute(interp, member.value, name)
    return interp.unknown(name)


def _super_attribute(interp: Interpreter, value: Super, name: str, node: Any, frame: Frame) -> Object:
    if isinstance(value.after, ClassObject) and has_base(interp, value.after, "type"):
        if name in ("__call__", "__new__"):
            return Bound(External(f"type.{name}"), value.owner)
        return Bound(External(f"object.{name}"), value.owner)
    if name == "__new__" and isinstance(value.owner, ClassObject) and has_base(interp, value.owner, NAMED_TUPLE):
        return External(f"{NAMED_TUPLE}.__new__")
    if name == "__new__":
        return Native("object.__new__", lambda interp, call: Instance(call.arguments[0], interp.tick()))
    cls = value.owner.cls if isinstance(value.owner, (Instance, EnumMember, DictObject)) else value.owner
    for candidate in cls.options if isinstance(cls, Choice) else (cls,):
        if not isinstance(candidate, ClassObject):
            continue
        is_table = isinstance(value.owner, DictObject)
        if name == "__init__" and not is_table:
            filled = generated_init(interp, candidate, value.after)
            if filled is not None:
                return Partial(External(GENERATED_INIT), [filled, value.owner], {})
        attribute, _ = lookup(interp, candidate, name, after=value.after)
        if attribute is not MISSING:
            return _bind(interp, attribute, value.owner, candidate, node, frame)
        if is_table and hasattr(dict, name):
            return Bound(name, value.owner)
        if name in ("__init__", "__post_init__", "__init_subclass__", "__setattr__", "__getattribute__"):
            return Bound(External(f"object.{name}"), value.owner)
        if not opaque(interp, candidate):
            raise Raised("AttributeError", f"'super' object has no attribute '{name}'")
    return interp.unknown(f"super().{name}")


def module_attribute(interp: Interpreter, module: Module, name: str) -> Object:
    """Return a global name of a module, or a submodule. Raises Raised("AttributeError") where there is neither."""
    found = resolve_global(interp, module, name)
    has = _module_has(interp, module, name, found)
    if has is None:
        interp.doubts += 1
    if has is False:
        raise Raised("AttributeError", f"module '{module.name}' has no attribute '{name}'")
    return found


def _module_has(interp: Interpreter, module: Module, name: str, found: Object) -> bool | None:
    """Tell whether a module has a global name whose lookup gave `found`; None if it may have it from out of sight."""
    if found is MISSING:
        return False
    if name in module.fields or type(found) is not External:
        return True
    if module.upstream is not None and interp.knowledge.lacks(module.name, name):
        return False
    return None


def has_attribute(interp: Interpreter, value: Object, name: str, node: Any, frame: Frame) -> bool | None:
    """Return `hasattr(value, name)`, or None if that cannot be known."""
    if isinstance(value, Unknown) and interp.settle(value) is value:
        return True if name in value.writes else None
    if isinstance(value, External):
        return hasattr(object, name) if value.name == "object" else None
    if isinstance(value, Instance):
        if name in value.fields:
            found = value.fields[name]
            return None if isinstance(found, Choice) and MISSING in found.options else True
        if not isinstance(value.cls, ClassObject):
            return agreed([_class_has(interp, cls, name) for cls in classes_of(value)])
        hook, _ = lookup(interp, value.cls, "__getattr__")
        if not isinstance(hook, Function):
            has = _class_has(interp, value.cls, name)
            return has or None if value.writes.get(MAY_HAVE_CHANGED) else has
    if isinstance(value, Module):
        return _module_has(interp, value, name, resolve_global(interp, value, name))
    if isinstance(value, Choice):
        return agreed([has_attribute(interp, option, name, node, frame) for option in value.options])
    try:
        found = get_attribute(interp, value, name, node, frame)
    except Raised as error:
        return False if error.name == "AttributeError" else None
    return None if isinstance(found, Unknown) and not found.not_none and not isinstance(value, Instance) else True


def _class_has(interp: Interpreter, cls: Object, name: str) -> bool | None:
    if not isinstance(cls, ClassObject):
        return None
    if lookup(interp, cls, name)[0] is not MISSING:
        return True
    return None if may_have_more(interp, cls) else False


def _module_attribute(interp: Interpreter, value: Module, name: str, node: Any, frame: Frame) -> Object:
    if name == "__dict__":
        return invoke(interp, written(interp, "builtins.names_of"), Call([value], {}, node, frame))
    return module_attribute(interp, value, name)


def _external_attribute(interp: Interpreter, value: External, name: str, node: Any, frame: Frame) -> Object:
    if name == "__name__":
        return value.name.rpartition(".")[2]
    if name == "__dict__" and (own := own_attributes(interp, value)) is not None:
        return own
    if value.name == "sys" and name == "argv" and (argv := own_argv(interp)) is not MISSING:
        return argv
    if value.name == "object" and not hasattr(object, name):
        raise Raised("AttributeError", f"type object 'object' has no attribute '{name}'")
    return outside(interp, value.name, name)


READERS: ByType[Callable[[Interpreter, Any, str, Any, Frame], Object]] = ByType()
"""Functions that read an attribute of each kind of value."""
READERS.update(
    {
        Unknown: _unknown_attribute,
        Module: _module_attribute,
        External: _external_attribute,
        ClassObject: _class_attribute,
        Choice: lambda interp, value, name, node, frame: over_options(
            interp, value, lambda option: get_attribute(interp, option, name, node, frame)
        ),
        EnumMember: _member_attribute,
        Super: _super_attribute,
        GeneratorCall: lambda interp, value, name, node, frame: Bound(name, value),
        Coroutine: lambda interp, value, name, node, frame: Bound(name, value),
        object: lambda interp, value, name, node, frame: interp.unknown(name),
    }
)
READERS.update(dict.fromkeys((Function, Native, Partial, Bound), function_attribute))
READERS.update(dict.fromkeys((*CONSTANTS, tuple, frozenset, ListObject, DictObject), builtin_attribute))
