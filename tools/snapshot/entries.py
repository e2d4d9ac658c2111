"""Entries of a snapshot: upstream's functions (the effect of a call, or a bound of its changes) and its classes."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any, TypeVar

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
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    Descriptor,
    DictObject,
    Frame,
    Function,
    Instance,
    Module,
    Object,
)
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.upstream import OWN, Forwarding
from tools.snapshot.bounds import ChangeBound, ChangeBounds, touched
from tools.snapshot.encode import UNKNOWN, Encoder, bare, class_defaults, kinds_of_parameters
from tools.snapshot.meaning import is_summarised, texts_in
from tools.snapshot.summarise import (
    UNCHANGED,
    CallSubject,
    Parameter,
    constructor_subject,
    function_subject,
    outcome_with,
    promises,
    says_something,
    summarise,
)

PART, REFUSED = "part", "refused"
"""Where else than in its own attributes an object may put one that is assigned (see Forwarding)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upstream:
    """The evaluator, the modules of the release, and the bounds of their functions."""

    interp: Interpreter
    modules: Mapping[str, Module]
    bounds: ChangeBounds


def quietly(interp: Interpreter, work: Callable[[], T]) -> T | None:
    """Return the result of some work at the evaluator; None if it cannot be computed."""
    try:
        return work()
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return None
    finally:
        interp.finish()


DEPTH = 4
MOST = 64


def words(interp: Interpreter, function: Function, parameter: str) -> list[str]:
    """List the texts, in the order in which the code has them."""
    return list(dict.fromkeys(_words(interp, function, parameter, DEPTH)))[:MOST]


def _words(interp: Interpreter, function: Function, parameter: str, depth: int) -> Iterator[str]:
    if not isinstance(function.node, ast.FunctionDef) or depth == 0:
        return
    for node in ast.walk(function.node):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_root(side) == parameter for side in sides):
                yield from (text for side in sides for text in texts_in(side))
        elif isinstance(node, ast.Match) and _root(node.subject) == parameter:
            yield from (text for case in node.cases for text in texts_in(case.pattern))
        elif isinstance(node, ast.Subscript) and _root(node.slice) == parameter:
            yield from _keys(_global(interp, function, node.value))
        elif isinstance(node, ast.Call):
            yield from _of_call(interp, function, node, parameter, depth)


def _of_call(interp: Interpreter, function: Function, node: ast.Call, parameter: str, depth: int) -> Iterator[str]:
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and node.args
        and _root(node.args[0]) == parameter
    ):
        yield from _keys(_global(interp, function, node.func.value))
        return
    places = [i for i, argument in enumerate(node.args) if _root(argument) == parameter]
    keywords = [keyword.arg for keyword in node.keywords if keyword.arg and _root(keyword.value) == parameter]
    called = _global(interp, function, node.func) if places or keywords else MISSING
    if isinstance(called, Function) and isinstance(called.node, ast.FunctionDef):
        names = [argument.arg for argument in (*called.node.args.posonlyargs, *called.node.args.args)]
        for name in (*(names[place] for place in places if place < len(names)), *keywords):
            yield from _words(interp, called, name, depth - 1)


def _root(node: ast.expr) -> str | None:
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return node.id


def _global(interp: Interpreter, function: Function, node: ast.expr) -> Object:
    try:
        return resolve_global(interp, function.module, node.id) if isinstance(node, ast.Name) else MISSING
    except Raised:
        return MISSING


def _keys(table: Object) -> list[str]:
    return [key for key in table.fields if isinstance(key, str)] if isinstance(table, DictObject) else []


def function_entry(upstream: Upstream, encoder: Encoder, function: Function) -> Any:
    """Describe a function of a module; None if nothing is known of it, or it builds models."""
    if not is_summarised(function.module.name):
        return None
    made = summary(upstream, encoder, function)
    if made is not None and "outcome" in made and not ("cases" in made or says_something(made["outcome"])):
        return bounded(upstream, function)
    return made


def summary(upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None = None) -> Any:
    """Summarise the effect of a call if it can be computed, else the bound of its changes; None if nothing is known."""
    if not _is_plain(function):
        return None
    bound = upstream.bounds.of(function)
    made = _worked_out(upstream, encoder, function, owner, bound)
    if made is None:
        return bounded(upstream, function)
    # What is added to a list that an argument holds, evaluating a function without its arguments does not see.
    if bound is not None and (bound.contents or "forgets" in json.dumps(made) or "broken" in made):
        made["bound"] = bound.described()
    return made


def bounded(upstream: Upstream, function: Function) -> Any:
    """Describe the bound of a function's changes; None if it is not known."""
    bound = upstream.bounds.of(function) if _is_plain(function) else None
    if bound is None:
        return None
    made: dict[str, Any] = {"bound": bound.described()}
    if bound.result not in (None, UNKNOWN):
        made["parameters"] = _parameters(function)
    return made


def _worked_out(
    upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None, bound: ChangeBound | None
) -> Any:
    if owner is not None and upstream.bounds.classes.decide(function, owner):
        return None
    subject = function_subject(encoder, function, owner)
    # Most functions of a release work on tensors. A method that only looks is worth knowing all the same.
    writes = bound is not None and bool(bound.names)
    if (
        owner is None
        and not _configures(function)
        and not writes
        and not quietly(upstream.interp, lambda: promises(subject))
    ):
        return None
    found = quietly(upstream.interp, lambda: summarise(subject))
    if found is None:
        return None
    outcome, broken = found
    arguments = function.node.args
    parameters: list[Any] = [
        [p.name, p.kind, ["required"] if p.default is MISSING else encoder.encode(p.default)]
        for p in subject.parameters
        if p.kind != "**"
    ]
    if arguments.vararg is not None:
        parameters.append([arguments.vararg.arg, "*", ["required"]])
    if arguments.kwarg is not None:
        parameters.append([arguments.kwarg.arg, "**", ["required"]])
    made: dict[str, Any] = {"parameters": parameters, "outcome": outcome}
    if broken:
        made["broken"] = broken
    told = writes or says_something(outcome) or _configures(function)
    cases = _cases(upstream, subject, function, outcome, writes) if told else {}
    more = {"cases": cases, "keys": [p.name for p in subject.parameters if p.kind == "**"]}
    return made | {name: each for name, each in more.items() if each}


def _cases(upstream: Upstream, subject: CallSubject, function: Function, outcome: Any, writes: bool) -> dict[str, Any]:
    """Compute outcomes for the values of single parameters that the code itself distinguishes.

    For a function that writes into its arguments (`writes`), the arguments may be any objects.
    """
    required = [parameter.name for parameter in subject.parameters if parameter.required]
    found = {}
    for parameter in subject.parameters:
        if parameter.kind == "**" or (required and required != [parameter.name] and not writes):
            continue
        cases = []
        for value in _values(upstream.interp, function, parameter, writes):
            one = quietly(upstream.interp, functools.partial(outcome_with, subject, parameter.name, value))
            if one is not None and one != outcome:
                cases.append([value, one])
        if cases:
            found[parameter.name] = cases
    return found


def _values(interp: Interpreter, function: Function, parameter: Parameter, writes: bool) -> list[Object]:
    if isinstance(parameter.default, bool):
        return [not parameter.default]
    if parameter.required or isinstance(parameter.default, str) or (writes and parameter.default is None):
        return [word for word in words(interp, function, parameter.name) if word != parameter.default]
    return []


def _is_plain(function: Function) -> bool:
    """Tell whether calling a function runs its code, and nothing else."""
    node = function.node
    return function.unwrapped is None and not function.is_async and isinstance(node, ast.FunctionDef)


def _parameters(function: Function) -> list[Any]:
    """List the parameters, and which of them are required; the defaults of the others are left out."""
    kinds = kinds_of_parameters(function)
    return [[name, kind, UNKNOWN if name in function.defaults else ["required"]] for name, kind in kinds]


def _configures(function: Function) -> bool:
    """Tell whether a function's annotation says that it returns a configuration."""
    returns = getattr(function.node, "returns", None)
    return returns is not None and "Config" in ast.unparse(returns)


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
    if is_enum(interp, cls):
        kind = "enum"
    elif is_dataclass(interp, cls):
        kind = "dataclass"
    elif has_base(interp, cls, "typing.NamedTuple"):
        kind = "namedtuple"
    else:
        kind = "typeddict" if has_base(interp, cls, "typing.TypedDict", "typing_extensions.TypedDict") else "plain"
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
    parts = {"attributes": attributes, "methods": methods, "properties": properties, "setters": setters, "kinds": kinds}
    made |= {key: found for key, found in parts.items() if found}
    if kind == "dataclass":
        _hooks(upstream, encoder, cls, made)
    return made


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
        made["sets"] = quietly(upstream.interp, lambda: _sets(upstream, cls))


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
    parameters = [
        Parameter(
            spec.name,
            "k",
            spec.default if spec.factory is MISSING else MISSING,
            required=spec.default is MISSING and spec.factory is MISSING,
        )
        for spec in fields_of(upstream.interp, cls)
        if spec.init
    ]
    return constructor_subject(encoder, cls, parameters)


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
    with suppress(Raised):
        return bool(get_attribute(interp, whole, DECLARED, None, Frame(cls.module)) == "known")
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
