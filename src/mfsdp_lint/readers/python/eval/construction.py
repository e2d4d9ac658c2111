"""Making classes and instances, as CPython's dataclasses, enum and typing.NamedTuple do."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from mfsdp_lint.readers.python.eval.classes import (
    FLAGS,
    NAMED_TUPLE,
    bases,
    enum_members,
    fields_by_name,
    has_base,
    has_fields,
    is_dataclass,
    is_enum,
    is_model,
    is_table,
    lookup,
    metaclass,
    mro,
    namespace,
    opaque,
    record_kind,
)
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.functions import unexpected
from mfsdp_lint.readers.python.eval.operators import equal
from mfsdp_lint.readers.python.eval.records import ATTRS, OUT_OF_SIGHT, after_init
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, RefusedCall
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MADE, MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    Descriptor,
    DictObject,
    EnumMember,
    FieldSpec,
    Frame,
    Function,
    Instance,
    Layout,
    Object,
    is_constant,
    obstacle_of,
    uncertain,
)


def instantiate(interp: Interpreter, cls: ClassObject, call: Call) -> Object:
    """Evaluate `cls(*arguments, **keywords)`, by its metaclass if that defines it. Raises Raised where Python would."""
    meta = metaclass(interp, cls)
    hook = lookup(interp, meta, "__call__")[0] if isinstance(meta, ClassObject) else MISSING
    if isinstance(hook, Function):
        return invoke(interp, hook, call.passing([cls, *call.arguments], call.keywords))
    return construct(interp, cls, call)


def construct(interp: Interpreter, cls: ClassObject, call: Call) -> Object:
    """Make a new object of a class, as `type.__call__` does. Raises Raised where Python would."""
    if is_enum(interp, cls):
        return _member_by_value(interp, cls, call)
    if has_base(interp, cls, "typing.TypedDict", "typing_extensions.TypedDict"):
        return DictObject(dict(call.keywords), interp.tick())
    if is_table(interp, cls):
        table = DictObject({}, interp.tick(), cls=cls)
        filled = lookup(interp, cls, "__init__")[0]
        invoke(interp, Bound(filled if isinstance(filled, Function) else "__init__", table), call)
        return table
    if cls.given_by is not None:
        call = call.passing(call.arguments, {**call.keywords, "**": interp.unknown("", obstacle=cls.given_by)})
    instance = Instance(cls, interp.tick(), interp.note(call.node, call.frame, None, "default", None, None))
    if interp.path.limit < interp.path.budget and is_container(interp, instance):
        interp.found_configuration()
    maker = lookup(interp, cls, "__new__")[0]
    if isinstance(maker, Function):
        made = interp.settle(invoke(interp, maker, call.passing([cls, *call.arguments], call.keywords)))
        if not isinstance(made, Instance) or made.cls is not cls:
            return made
        instance = made
        if has_base(interp, cls, NAMED_TUPLE):
            return instance
    if cls.name.endswith("FullyShardedDataParallel") and cls.module.name.startswith("megatron.core.distributed."):
        interp.dependencies.unjudged.add(f"wraps the model with {cls.name} itself")
    constructor, owner = lookup(interp, cls, "__init__")
    if isinstance(constructor, Function) and not (has_fields(interp, cls) and _generated_is_nearer(interp, cls, owner)):
        invoke(interp, constructor, call.passing([instance, *call.arguments], call.keywords))
        return instance
    if (has_fields(interp, cls) and not _keeps_its_own(interp, cls)) or has_base(interp, cls, NAMED_TUPLE):
        _end_init(interp, instance, call, _give_fields(interp, instance, call))
        return instance
    if isinstance(maker, Function):
        return instance
    for name, value in call.keywords.items():
        if name != "**":
            _set(interp, instance, name, value, call.node, call.frame, call.focus)
    if opaque(interp, cls):
        interp.record(instance, MAY_HAVE_CHANGED, True)
    return instance


def _generated_is_nearer(interp: Interpreter, cls: ClassObject, owner: Object) -> bool:
    for base in mro(interp, cls):
        if isinstance(base, ClassObject) and is_dataclass(interp, base):
            return base is not owner
        if base is owner:
            return False
    return False


def _keeps_its_own(interp: Interpreter, cls: ClassObject) -> bool:
    """Tell whether instances are made by an `__init__` that no snapshot describes, and not by a generated one."""
    for base in mro(interp, cls):
        if isinstance(base, ClassObject):
            if is_dataclass(interp, base):
                return False
            if base.data is not None and base.data.opaque:
                return True
    return False


def _member_by_value(interp: Interpreter, cls: ClassObject, call: Call) -> Object:
    members, arguments = enum_members(interp, cls), call.arguments
    if len(arguments) == 1:
        wanted = interp.settle(arguments[0])
        if isinstance(wanted, EnumMember):
            return wanted
        for member in members.values():
            if type(member.value) is type(wanted) and member.value == wanted:
                return member
        if isinstance(wanted, (Instance, tuple)):
            # (A named tuple equals a plain one.)
            alike = (each for each in members.values() if equal(interp, each.value, wanted))
            if (same := next(alike, None)) is not None:
                return same
        if not is_constant(wanted) or not all(is_constant(member.value) for member in members.values()):
            return interp.unknown(cls.name, not_none=True)
        hook = lookup(interp, cls, "_missing_")[0]
        hook = hook.function if isinstance(hook, Descriptor) else hook
        found = interp.settle(invoke(interp, hook, call.passing([cls, wanted]))) if hook is not MISSING else None
        if isinstance(found, EnumMember):
            return found
        if found is None and not has_base(interp, cls, *FLAGS):
            raise Raised("ValueError", f"not a valid {cls.name}")
    return interp.unknown(cls.name, not_none=True)


def _set(
    interp: Interpreter, instance: Instance, name: str, value: Object, node: Any, frame: Frame, focus: Mapping[str, Any]
) -> None:
    instance.fields[name] = value
    instance.writes[name] = interp.note(node, frame, focus.get(name), "argument", value, None)


def initialize(interp: Interpreter, instance: Instance, base: ClassObject, call: Call) -> None:
    """Fill the fields of a base class in an object that is there, as the base's generated `__init__` does.

    Raises Raised where Python would.
    """
    if _keeps_its_own(interp, base):
        forget_reachable(interp, instance)
        return
    made = Instance(base, interp.tick(), interp.note(call.node, call.frame, None, "default", None, None))
    initial = _give_fields(interp, made, call)
    for name, value in made.fields.items():
        interp.put(instance, name, value)
        if name in made.writes or name in instance.writes:
            interp.record(instance, name, made.writes.get(name, made.made))
    # The base's own `__init__` ends with `__post_init__` only where the base has one; the object's is called.
    _end_init(interp, instance, call, initial, calls_hooks=bool(_layout(interp, base).after))


def _give_fields(interp: Interpreter, instance: Instance, call: Call) -> list[Object]:
    """Give the fields their values, and return those of the parameters that are no fields."""
    cls = instance.cls
    assert isinstance(cls, ClassObject)
    layout = _layout(interp, cls)
    if len(call.arguments) > len(layout.positional):
        raise RefusedCall(f"{cls.name}() takes {len(layout.positional)} positional arguments")
    given = dict(zip(layout.positional, call.arguments, strict=False))
    twice = [name for name in call.keywords if name in given and not uncertain(call.keywords[name])]
    if twice:
        raise RefusedCall(f"{cls.name}() got multiple values for argument '{min(twice)}'")
    given.update((layout.renamed.get(name, name), value) for name, value in call.keywords.items() if name not in given)
    more = given.pop("**", None)
    open_ended = more is not None
    refused = [name for name in given if name not in layout.specs and not uncertain(given[name])]
    if is_model(interp, cls):
        # What a model does with them is said in its `model_config`, which may stand in any base.
        given = {name: value for name, value in given.items() if name not in refused}
    elif refused and not opaque(interp, cls):
        raise unexpected(f"{cls.name}.__init__", refused[0], list(layout.specs))
    lacking = tuple(spec.name for spec in layout.others if _is_lacking(spec, given)) if not open_ended else ()
    if lacking:
        raise RefusedCall(f"{cls.name}() missing required arguments: {', '.join(map(repr, lacking))}", lacking=lacking)
    instance.fields = layout.constants.copy()
    by_default = [spec for spec in layout.others if spec.name not in given or not spec.init]
    for spec in by_default:
        if not spec.takes_self:
            instance.fields[spec.name] = _by_default(interp, spec, instance, call)
    if open_ended:
        # Arguments that are not known may set any field.
        obstacle = obstacle_of(more)
        instance.fields |= {
            name: interp.unknown(name, obstacle=obstacle) for name in instance.fields if name not in given
        }
    for name, value in given.items():
        if uncertain(value):
            value = _maybe_default(interp, value, layout.specs.get(name), instance, call)
        field = layout.specs.get(name)
        if field is not None and field.convert is not MISSING:
            said = {"value": call.focus[field.given_as]} if field.given_as in call.focus else {}
            value = invoke(interp, field.convert, Call([value], {}, call.node, call.frame, said))
        _set(interp, instance, name, value, call.node, call.frame, call.focus)
    for spec in by_default:
        if spec.takes_self and not open_ended:
            instance.fields[spec.name] = _by_default(interp, spec, instance, call)
    for name in layout.initial:
        instance.writes.pop(name, None)
    return [instance.fields.pop(name) for name in layout.initial]


def _end_init(
    interp: Interpreter, instance: Instance, call: Call, initial: list[Object], calls_hooks: bool = True
) -> None:
    cls = instance.cls
    assert isinstance(cls, ClassObject)
    layout = _layout(interp, cls)
    if layout.hooked:
        hook, _ = lookup(interp, cls, "__setattr__")
        _replay_setattr(
            interp,
            hook,
            instance,
            [(name, instance.fields[name]) for name in layout.specs if name not in layout.initial],
            call.node,
            call.frame,
        )
    for hook in layout.after if calls_hooks else ():
        if hook is OUT_OF_SIGHT:
            instance.fields.update({name: interp.unknown(name) for name in layout.specs})
        else:
            invoke(interp, hook, call.passing([instance, *initial]))


def _layout(interp: Interpreter, cls: ClassObject) -> Layout:
    if cls.layout is None or not interp.volatile.isdisjoint(("__post_init__", "__setattr__")):
        specs = list(fields_by_name(interp, cls).values())
        plain: dict[Any, Object] = {
            spec.name: spec.default for spec in specs if spec.default is not MISSING and not spec.converts_default
        }
        cls.layout = Layout(
            {spec.name: spec for spec in specs},
            [spec.name for spec in specs if spec.init and not spec.keyword_only],
            plain,
            [spec for spec in specs if spec.name not in plain],
            isinstance(lookup(interp, cls, "__setattr__")[0], Function),
            _after_fields(interp, cls),
            {spec.given_as: spec.name for spec in specs if spec.given_as},
            [spec.name for spec in specs if spec.init_only],
        )
    return cls.layout


def _after_fields(interp: Interpreter, cls: ClassObject) -> list[Object]:
    """List the functions that the generated `__init__` calls with the new object at its end."""
    if is_model(interp, cls):
        hooks = [
            hook
            for base in reversed(mro(interp, cls))
            if isinstance(base, ClassObject) and not base.module.written
            for hook in after_init(interp, base, namespace(interp, base))
        ]
        return hooks if lookup(interp, cls, "model_post_init")[0] is MISSING else [*hooks, OUT_OF_SIGHT]
    kinds = (
        record_kind(interp, base)
        for base in mro(interp, cls)
        if isinstance(base, ClassObject) and base.node is not None
    )
    kind = next((found[1] for found in kinds if found is not None), "")
    after, _ = lookup(interp, cls, "__attrs_post_init__" if kind in ATTRS else "__post_init__")
    return [after] if isinstance(after, Function) else []


def _is_lacking(spec: FieldSpec, given: Mapping[str, Object]) -> bool:
    return spec.init and spec.factory is MISSING and spec.default is MISSING and spec.name not in given


def _replay_setattr(
    interp: Interpreter, hook: Object, instance: Instance, values: list[tuple[str, Object]], node: Any, frame: Frame
) -> None:
    # The generated __init__ assigns field by field, in order, so a class's own __setattr__ sees each of them, and not
    # yet those behind it.
    assigned, writes = {name for name, _ in values}, instance.writes
    instance.fields = {name: value for name, value in instance.fields.items() if name not in assigned}
    instance.writes = {}
    for name, value in values:
        invoke(interp, hook, Call([instance, name, value], {}, node, frame))
    instance.writes = {name: write for name, write in writes.items() if name in instance.fields}


def _maybe_default(interp: Interpreter, value: Choice, spec: FieldSpec | None, owner: Instance, call: Call) -> Object:
    given = [option for option in value.options if option is not MISSING]
    fallback = MISSING if spec is None else default(interp, spec, owner, call)
    return join(interp, given if fallback is MISSING else [*given, fallback])


def _by_default(interp: Interpreter, spec: FieldSpec, owner: Instance, call: Call) -> Object:
    value = default(interp, spec, owner, call)
    if spec.converts_default and spec.convert is not MISSING and value is not MISSING:
        value = invoke(interp, spec.convert, call.passing([value]))
    return interp.unknown(spec.name) if value is MISSING else value


def default(interp: Interpreter, spec: FieldSpec, owner: Instance | None, call: Call) -> Object:
    """Return the default value of a field, made anew where it has a factory; MISSING where it has none."""
    if spec.default is not MISSING:
        return spec.default
    if spec.factory is not MISSING:
        return invoke(interp, spec.factory, call.passing([owner] if spec.takes_self else []))
    return MISSING


def is_watched(node: ast.ClassDef, known: dict[Any, Object]) -> bool:
    """Tell whether code of the program may run when this class is defined, as far as its own file shows."""
    bases = (known.get(base.id) for base in node.bases if isinstance(base, ast.Name))
    return bool(node.keywords) or any(isinstance(base, ClassObject) and base.hooked for base in bases)


def watches(node: ast.ClassDef) -> bool:
    """Tell whether a class runs code of its own when one of it is defined."""
    return any(isinstance(inner, ast.FunctionDef) and inner.name == "__init_subclass__" for inner in node.body)


def announce(interp: Interpreter, cls: ClassObject, frame: Frame) -> Object:
    """Run what the definition of a class runs; the class."""
    assert cls.node is not None
    namespace(interp, cls)
    keywords = {each.arg: evaluate(interp, each.value, frame) for each in cls.node.keywords if each.arg}
    keywords.pop("metaclass", None)
    meta = metaclass(interp, cls)
    if isinstance(meta, ClassObject):
        body = DictObject(dict(namespace(interp, cls)), interp.tick())
        body.writes[MADE] = cls
        for name, first in (("__new__", meta), ("__init__", cls)):
            hook = lookup(interp, meta, name)[0]
            if isinstance(hook, Function):
                given: list[Object] = [first, cls.name, tuple(bases(interp, cls)), body]
                invoke(interp, hook, Call(given, dict(keywords), cls.node, frame))
    hook = lookup(interp, cls, "__init_subclass__", after=cls)[0]
    hook = hook.function if isinstance(hook, Descriptor) else hook
    if isinstance(hook, Function):
        focus = {each.arg: each for each in cls.node.keywords if each.arg is not None} if cls.node is not None else {}
        invoke(interp, hook, Call([cls], keywords, cls.node, frame, focus))
    return cls


def class_being_made(interp: Interpreter, arguments: list[Object]) -> Object:
    """Evaluate `type.__new__(metaclass, name, bases, namespace)`: the class being defined, with that namespace."""
    body = arguments[-1] if arguments else None
    cls = body.writes.get(MADE) if isinstance(body, DictObject) else None
    if not isinstance(body, DictObject) or not isinstance(cls, ClassObject):
        return interp.unknown("type", not_none=True)
    cls.fields.update(body.fields)
    return cls
