"""Classes of upstream in a snapshot: their fields, their methods, and the effects of their hooks."""

from __future__ import annotations

import ast
from dataclasses import astuple
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import (
    bases,
    enum_members,
    fields_of,
    has_base,
    is_dataclass,
    is_enum,
    is_frozen,
    lookup,
    namespace,
    own_fields,
)
from mfsdp_lint.readers.python.eval.construction import instantiate
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import CONSTANTS, MISSING, Descriptor, Function, Instance
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.class_data import OWN, PART, REFUSED, Forwarding
from mfsdp_lint.snapshots.making.combine import UNCHANGED
from mfsdp_lint.snapshots.making.encode import UNKNOWN, Encoder, bare, class_defaults
from mfsdp_lint.snapshots.making.functions import Upstream, bounded, is_summarised, quietly, summary
from mfsdp_lint.snapshots.making.summarise import CallSubject, constructor_subject, summarise
from mfsdp_lint.snapshots.making.touched import touched

OPAQUE = {"__init__", "__new__", "__getattr__", "__getattribute__", "__setattr__"}
"""Methods by which a class that is no dataclass may make of its instances whatever it likes."""

DECLARED, ADDED, ABSENT = "declared_probe", "added_probe", "absent_probe"
PROBE = f"""
from dataclasses import dataclass

@dataclass
class Probe:
    {DECLARED}: object = None
    %s: object = None
"""
PROBES = (True, False, "<probe>")


def class_entry(upstream: Upstream, encoder: Encoder, cls: ClassObject) -> Any:
    """Describe a class of a module: a dictionary as specified in snapshots/__init__.py."""
    interp = upstream.interp
    kind = _kind(upstream, cls)
    made: dict[str, Any] = {"kind": kind}
    parents = [node for node in map(encoder.encode, bases(interp, cls)) if node != ["ext", "object"]]
    if parents:
        made["bases"] = parents
    if kind == "enum":
        made["attributes"] = {name: encoder.encode(m.value) for name, m in enum_members(interp, cls).items()}
        return made
    own = namespace(interp, cls)
    if kind in ("dataclass", "namedtuple"):
        made["fields"] = _fields(upstream, encoder, cls)
    if kind == "dataclass" and is_frozen(interp, cls):
        made["frozen"] = True
    wanted = kind == "dataclass" and is_summarised(cls.module.name)
    attributes, methods, properties, setters, kinds = {}, {}, {}, {}, {}
    if OPAQUE & own.keys() and kind != "dataclass":
        made["opaque"] = True
    for name, value in own.items():
        if not isinstance(name, str) or (name.startswith("__") and name != "__call__"):
            continue
        if isinstance(value, Function):
            methods[name] = summary(upstream, encoder, value, cls) if wanted else bounded(upstream, value)
        elif isinstance(value, Descriptor):
            if value.kind == "property":
                assert isinstance(value.function, Function)
                properties[name] = summary(upstream, encoder, value.function, cls) if wanted else None
                if isinstance(value.setter, Function):
                    setters[name] = summary(upstream, encoder, value.setter, cls) if wanted else None
            else:
                methods[name] = bounded(upstream, value.function) if isinstance(value.function, Function) else None
                kinds[name] = value.kind
        elif isinstance(value, CONSTANTS) and name not in {spec[0] for spec in made.get("fields", ())}:
            attributes[name] = encoder.encode(value)
    parts = {"attributes": attributes, "methods": methods, "properties": properties, "setters": setters}
    parts["kinds"] = kinds
    made |= {key: found for key, found in parts.items() if found}
    if kind == "dataclass":
        _hooks(upstream, encoder, cls, made)
    return made


def _kind(upstream: Upstream, cls: ClassObject) -> str:
    interp = upstream.interp
    if is_enum(interp, cls):
        return "enum"
    if is_dataclass(interp, cls):
        return "dataclass"
    if has_base(interp, cls, "typing.NamedTuple"):
        return "namedtuple"
    return "typeddict" if has_base(interp, cls, "typing.TypedDict", "typing_extensions.TypedDict") else "plain"


def _fields(upstream: Upstream, encoder: Encoder, cls: ClassObject) -> list[Any]:
    specs = own_fields(upstream.interp, cls)
    values = class_defaults(encoder, cls, specs)
    found = []
    for spec in specs:
        required = spec.default is MISSING and spec.factory is MISSING
        node: Node = ["required"] if required else values[spec.name]
        flags = ("" if spec.init else "i") + ("k" if spec.keyword_only else "")
        found.append([spec.name, node, flags] if flags else [spec.name, node])
    return found


def _hooks(upstream: Upstream, encoder: Encoder, cls: ClassObject, made: dict[str, Any]) -> None:
    hook, _ = lookup(upstream.interp, cls, "__post_init__")
    constructor, maker = lookup(upstream.interp, cls, "__init__")
    if isinstance(constructor, Function) and maker is cls:
        made |= {"kind": "plain", "opaque": True}
        return
    forwards = quietly(upstream.interp, lambda: forwarding(upstream.interp, cls))
    if forwards is not None:
        made["forwards"] = list(astuple(forwards))
        return
    setter, _ = lookup(upstream.interp, cls, "__setattr__")
    if isinstance(hook, Function):
        made["made"] = quietly(upstream.interp, lambda: _constructed(upstream, encoder, cls))
        if made["made"] is None:
            made["made"] = quietly(upstream.interp, lambda: _perhaps_constructed(upstream, encoder, cls))
    if isinstance(setter, Function):
        sets = quietly(upstream.interp, lambda: _sets(upstream, cls))
        made["sets"] = sets


def _constructed(upstream: Upstream, encoder: Encoder, cls: ClassObject) -> dict[str, Node] | None:
    """Describe the fields that construction leaves other than passed or declared; None if they are not known."""
    defaults = class_defaults(encoder.elsewhere(), cls, fields_of(upstream.interp, cls))
    subject = _field_subject(upstream, encoder, cls)
    if _changed(upstream, subject) == set():
        return {}
    found = summarise(subject)
    if found is None or found[1]:
        return None
    result = found[0]["result"]
    result = result[2] if result[0] == "def" else result
    if result[0] != "obj":
        return None
    return {
        name: field[-1]
        for name, field in result[3].items()
        if field[-1] not in (["arg", name], ["pass", name, ["default"]]) and bare(field[-1]) != bare(defaults.get(name))
    }


def _perhaps_constructed(upstream: Upstream, encoder: Encoder, cls: ClassObject) -> dict[str, Node] | None:
    """Describe the fields that construction may change: their values if nothing is passed, else not known.

    A size of 0 by default has to be passed, although the class does not require it.
    """
    hook, owner = lookup(upstream.interp, cls, "__post_init__")
    names = touched(upstream.interp, upstream.modules, cls, hook, owner) if isinstance(hook, Function) else None
    if names is None:
        return None
    subject = _field_subject(upstream, encoder, cls)
    optional = {parameter.name for parameter in subject.parameters if not parameter.required}
    sizes = {p.name for p in subject.parameters if type(p.default) is int and p.default == 0}
    changed = [spec.name for spec in fields_of(upstream.interp, cls) if spec.name in names]
    for passed in (frozenset[str](), frozenset(sizes)):
        outcome = subject.outcome(passed)
        result = None if outcome is None else outcome[3]["result"][-1]
        if isinstance(result, list) and result[0] == "obj":
            others = sorted(optional - passed)
            return {name: ["dep", others, result[3].get(name, UNCHANGED)[-1]] for name in changed}
    return dict.fromkeys(changed, UNKNOWN)


def _field_subject(upstream: Upstream, encoder: Encoder, cls: ClassObject) -> CallSubject:
    names = []
    for spec in fields_of(upstream.interp, cls):
        if spec.init:
            required = spec.default is MISSING and spec.factory is MISSING
            default = MISSING if required or spec.factory is not MISSING else spec.default
            names.append((spec.name, required, default))
    return constructor_subject(encoder, cls, names)


def _changed(upstream: Upstream, subject: CallSubject) -> set[str] | None:
    """Find the fields that construction changes for all arguments; None if that is not certain."""
    outcome = subject.outcome(frozenset(parameter.name for parameter in subject.parameters))
    result = None if outcome is None else outcome[3]["result"][-1]
    if not isinstance(result, list) or result[0] != "obj":
        return None
    return {name for name, field in result[3].items() if field[-1] != ["arg", name]}


def _sets(upstream: Upstream, cls: ClassObject) -> dict[str, list[str]] | None:
    """Map each name to the fields that a class's own `__setattr__` writes for it, unless it is just that field."""
    names = [spec.name for spec in fields_of(upstream.interp, cls)]
    found = {}
    for name in names:
        written: set[str] = set()
        for probe in PROBES:
            upstream.interp.begin(())
            frame = Frame(cls.module)
            instance = instantiate(upstream.interp, cls, Call([], {}, None, frame, {}))
            if not isinstance(instance, Instance):
                return None
            before = dict(instance.fields)
            set_attribute(upstream.interp, instance, name, probe, None, frame)
            written |= {key for key, value in instance.fields.items() if value is not before.get(key, MISSING)}
            if any(instance.fields[key] is not probe for key in written):
                return None
        if written - {name}:
            found[name] = sorted(written - {name})
    return found


def forwarding(interp: Interpreter, cls: ClassObject) -> Forwarding | None:
    """Find the field to which a dataclass's own `__getattr__` and `__setattr__` forward, and how; None if to none.

    It is found by trying the two on a part that has known attributes.
    """
    hooks = [lookup(interp, cls, name)[0] for name in ("__getattr__", "__setattr__")]
    if not any(isinstance(hook, Function) for hook in hooks):
        return None
    names = [spec.name for spec in fields_of(interp, cls)]
    for number, field in enumerate(names):
        other = names[number - 1]
        if other != field and _arrives(interp, cls, field, other, DECLARED) == PART:
            writes = [_arrives(interp, cls, field, other, name) for name in (DECLARED, ADDED, other, ABSENT)]
            if None not in writes:
                return Forwarding(field, _reads(interp, cls, field, other), *map(str, writes))
    return None


def _with_part(interp: Interpreter, cls: ClassObject, field: str, other: str) -> tuple[Instance, Instance]:
    """Make an instance, and its part in `field`, whose class declares `other` as well."""
    interp.begin(())
    module = Module("<probe>", "<probe>", ast.parse(PROBE % other))
    probe = resolve_global(interp, module, "Probe")
    assert isinstance(probe, ClassObject)
    part = Instance(probe, interp.tick())
    part.fields.update({DECLARED: "known", ADDED: "known", other: "known"})
    whole = Instance(cls, interp.tick())
    for spec in fields_of(interp, cls):
        whole.fields[spec.name] = interp.unknown(spec.name)
    whole.fields[field] = part
    return whole, part


def _reads(interp: Interpreter, cls: ClassObject, field: str, other: str) -> bool:
    whole, _ = _with_part(interp, cls, field, other)
    try:
        return bool(get_attribute(interp, whole, DECLARED, None, Frame(cls.module)) == "known")
    except Raised:
        return False


def _arrives(interp: Interpreter, cls: ClassObject, field: str, other: str, name: str) -> str | None:
    """Find where an attribute arrives; None if that is not certain."""
    whole, part = _with_part(interp, cls, field, other)
    try:
        set_attribute(interp, whole, name, "written", None, Frame(cls.module))
    except Raised as error:
        return REFUSED if error.name == "AttributeError" else None
    arrived = [place for place, owner in ((PART, part), (OWN, whole)) if owner.fields.get(name) == "written"]
    return arrived[0] if len(arrived) == 1 else None
