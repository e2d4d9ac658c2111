"""Functions and classes of upstream, as the evaluator's own: made of what the snapshot says of each.

Functions of start-up that a recipe calls change its settings as startup/ knows.

Some configurations hand attributes on to a part of themselves: `model.tensor_model_parallel_size` of a builder
configuration is that of `model.transformer`. The class has a `__getattr__` and a `__setattr__` that say so
(Megatron-Bridge 0.4.2, models/gpt/gpt_builder.py; head, models/gpt/model_config.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from mfsdp_lint.core.recipe import Origin, Span, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, Value
from mfsdp_lint.megatron.conditions import agreed
from mfsdp_lint.megatron.startup import Phase
from mfsdp_lint.megatron.startup.resolve import StartupChange, changes_of
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, mro
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.functions import HUGGINGFACE, call_user_function
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.calling import LIBRARY, Model, invoke, isolated
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call, Deferred, classes_of
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassKnowledge,
    ClassObject,
    Descriptor,
    DictObject,
    External,
    FieldSpec,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Unknown,
    identical,
)
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.build import Arguments, Builder, Upstream, apply, forget_within, only_upstream
from mfsdp_lint.snapshots.effects import executable

STARTS: dict[str, frozenset[Phase]] = {
    "megatron.bridge.training.config.runtime_config_update": frozenset(("update", "validation")),
    "megatron.bridge.training.config.ConfigContainer.validate": frozenset(("validation",)),
}
"""The functions that are phases of the start-up, by their dotted names."""

MAKERS = {"mixed_precision": ("megatron.bridge.training.mixed_precision", "get_mixed_precision_config")}
"""The functions by which start-up makes a section that is given as a name."""


def _kept(interp: Interpreter, container: Instance) -> Iterable[tuple[Instance | Unknown, str, Object, Any]]:
    """Yield the current values of the settings that start-up is known for, and of the sections they are in."""
    seen = set()
    for path in SETTINGS:
        owner: Object = container
        for name in path.split("."):
            if not isinstance(owner, (Instance, Unknown)) or name not in owner.fields:
                break
            value = owner.fields[name]
            if (id(owner), name) not in seen:
                seen.add((id(owner), name))
                yield owner, name, value, owner.writes.get(name)
            owner = interp.settle(value)


def _carry_out(interp: Interpreter, container: Instance, change: StartupChange, frame: Frame) -> None:
    value = _object(interp, change.path, change.after)
    node: Any = frame.node
    if (place := change.place) is not None:
        span = Span(place.path, place.line, 1, place.line, 1)
        node = Origin(span, "upstream", None, frame.function, place.release)
    if change.path.startswith(ENVIRONMENT):
        name = change.path.removeprefix(ENVIRONMENT)
        write(interp, interp.path.environment, name, value, node, frame, None, "upstream")
        return
    *sections, name = change.path.split(".")
    owner: Object = container
    try:
        for section in sections:
            owner = get_attribute(interp, owner, section, None, frame)
        set_attribute(interp, owner, name, value, node, frame, None, "upstream")
    except Raised:
        return


def _object(interp: Interpreter, path: str, value: Value) -> Object:
    match value:
        case Known(plain):
            return _plain(interp, plain)
        case OneOf(values):
            return Choice(tuple(_plain(interp, each) for each in values))
        case NotNone():
            return interp.unknown(path, not_none=True)
    return interp.unknown(path)


def _plain(interp: Interpreter, value: Plain) -> Object:
    match value:
        case list():
            return ListObject([_plain(interp, item) for item in value], interp.tick())
        case dict():
            return DictObject({key: _plain(interp, item) for key, item in value.items()}, interp.tick())
        case str() if value.startswith("torch."):
            return External(value)
    return value


REQUIRED: Node = ["required"]
ANY_PARAMETERS: Node = [["args", "*", REQUIRED], ["kwargs", "**", REQUIRED]]


def upstream_function(
    knowledge: Upstream,
    interp: Interpreter,
    module: Module,
    name: str,
    described: Any,
    owner: ClassObject | None = None,
) -> Function:
    """Make a function by its summary; without one, a call of it is not followed."""
    parameters: Any = (described or {}).get("parameters", ANY_PARAMETERS)
    function = Function(definition(name, parameters), module, None, name, owner)

    with interp.aside():
        builder = Builder(knowledge, interp, module)
        function.defaults.update({name: builder.build(node) for name, _, node in parameters if node != REQUIRED})
    full = f"{module.name}.{name}"
    carried_out: list[Function] = []
    phases = STARTS.get(full if owner is None else f"{module.name}.{owner.name}.{name}")

    def run(interp: Interpreter, call: Call) -> Object:
        if phases is not None and _start(knowledge, interp, function, phases, described, call):
            return None
        replaced = knowledge.replaced_below(interp, module.name)
        if not described or replaced:
            return unfollowed(interp, full, call, obstacle=replaced)
        if "effects" in described and (call.arguments or call.keywords or "outcome" not in described):
            if not carried_out:
                carried_out.append(_with_effects(knowledge, interp, function, described["effects"]))
            return call_user_function(interp, carried_out[0], call)
        return apply(knowledge, interp, function, described, call)

    function.unwrapped = Native(full, LIBRARY.get(full, run))
    return function


def _with_effects(knowledge: Upstream, interp: Interpreter, function: Function, effects: Any) -> Function:
    """Make a function that carries out the effects of `function`, for a call with arguments."""
    module, name = function.module, function.name
    for key, node in effects.get("names", {}).items():
        build = partial(Builder(knowledge, interp, module).build, node)
        module.fields.setdefault(key, Deferred(partial(isolated, interp, build)))
    made = Function(executable(name, function.node.args, effects), module, None, name, function.cls)
    made.defaults = function.defaults
    return made


def _start(
    knowledge: Upstream,
    interp: Interpreter,
    function: Function,
    phases: frozenset[Phase],
    described: Any,
    call: Call,
) -> bool:
    """Take phases of the start-up on the configuration that a call is given; False where that is not known.

    What they may change is forgotten, and what is known of that is put back.
    """
    match [interp.settle(value) for value in call.values]:
        case [Instance() as container] if is_container(interp, container) and only_upstream(interp, [container]):
            pass
        case _:
            return False
    frame = Frame(function.module, function.name, None, call.frame, call.node, interp.tick())
    settings = TreeSettings(interp, container, interp.path.environment, Spans(interp))
    changes = changes_of(Variant(settings), knowledge.target, phases)
    kept = list(_kept(interp, container))
    named = [(section, name) for section in MAKERS if isinstance(name := container.fields.get(section), str)]
    forget_within(interp, container, (described or {}).get("bound"))
    for owner, name, value, before in kept:
        if owner.fields.get(name, MISSING) is not value:
            interp.put(owner, name, value)
            if before is not None:
                interp.record(owner, name, before)
    for section, name in named:
        if any(change.path.startswith(f"{section}.") for change in changes):
            maker = knowledge.reference(interp, *MAKERS[section])
            made = invoke(interp, maker, Call([name], {}, call.node, call.frame))
            set_attribute(interp, container, section, made, frame.node, frame, None, "upstream")
    for change in {change.path: change for change in changes}.values():
        _carry_out(interp, container, change, frame)
    return True


def definition(name: str, parameters: list[Any]) -> ast.FunctionDef:
    """Build the signature of a function as a syntax tree; its body is not known."""

    def named(kind: str) -> list[ast.arg]:
        return [ast.arg(parameter, lineno=1, col_offset=0) for parameter, its, _ in parameters if its == kind]

    arguments = ast.arguments(
        posonlyargs=named("p"),
        args=named("a"),
        vararg=next(iter(named("*")), None),
        kwonlyargs=named("k"),
        kw_defaults=[None if node == REQUIRED else ast.Constant(None) for _, kind, node in parameters if kind == "k"],
        kwarg=next(iter(named("**")), None),
        defaults=[ast.Constant(None) for _, kind, node in parameters if kind in "pa" and node != REQUIRED],
    )
    return ast.FunctionDef(name, arguments, [ast.Pass()], [], lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


OWN = "own"


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Handling of attributes that a class does not have itself.

    `field` is the part. `reads` says that a missing attribute is read from the part. Writing goes to the "part", the
    object's "own" attributes, or is "refused": `declared` for a name that the part's class declares, `added` for a
    name that the part has without declaring it, `both` for a name that both classes declare, `absent` for any other.
    """

    field: str
    reads: bool
    declared: str
    added: str
    both: str
    absent: str

    def get(self, interp: Interpreter, instance: Instance, name: str, node: Any, frame: Frame) -> Object:
        """Read `instance.name` if the instance itself does not have it. Raises Raised where Python would."""
        part = interp.settle(instance.fields.get(self.field, MISSING))
        if not self.reads or part is MISSING or name == self.field:
            raise Raised("AttributeError", name)
        return get_attribute(interp, part, name, node, frame)

    def set(self, interp: Interpreter, instance: Instance, name: str, value: Object, node: Any, frame: Frame) -> None:
        """Assign `instance.name = value`. Raises Raised where Python would."""
        part = interp.settle(instance.fields.get(self.field, MISSING))
        match self._goes_to(interp, instance, part, name, frame):
            case "part":
                set_attribute(interp, part, name, value, node, frame)
            case "own":
                interp.put(instance, name, value)
            case "refused":
                raise Raised("AttributeError", name)
            case _:
                # Wherever it went, it is read back by this name; whether the part has it now is not known.
                interp.put(instance, name, value)
                if isinstance(part, (Instance, Unknown)):
                    interp.put(part, name, interp.unknown(name))

    def _goes_to(self, interp: Interpreter, instance: Instance, part: Object, name: str, frame: Frame) -> str | None:
        if part is MISSING or name == self.field:
            return OWN
        own = _declares(interp, instance, name)
        if self.declared == self.added == self.both == self.absent or (own and self.both == OWN):
            return OWN
        there = has_attribute(interp, part, name, None, frame)
        if there is None or own is None:
            return None
        if not there:
            return OWN if own else self.absent
        if own or self.declared == self.added:
            return self.both if own else self.declared
        declared = _declares(interp, part, name)
        return None if declared is None else self.declared if declared else self.added


def _declares(interp: Interpreter, instance: Object, name: str) -> bool | None:
    """Tell whether the class of an object declares a field; None if that is not known."""
    if not isinstance(instance, Instance):
        return None
    classes = classes_of(instance)
    at_hand = [cls for cls in classes if isinstance(cls, ClassObject)]
    if len(at_hand) < len(classes):
        return None
    return agreed([any(spec.name == name for spec in fields_of(interp, cls)) for cls in at_hand])


class ClassData(ClassKnowledge):
    """Knowledge of a class from a snapshot, in the terms of the evaluator's classes."""

    __slots__ = ("described", "forwarding", "interp", "is_dataclass", "is_frozen", "knowledge", "opaque")

    def __init__(self, knowledge: Upstream, interp: Interpreter, described: Any) -> None:
        self.knowledge = knowledge
        self.interp = interp
        self.described = described
        self.is_dataclass = described["kind"] == "dataclass"
        self.opaque = bool(described.get("opaque"))
        self.is_frozen = bool(described.get("frozen"))
        self.forwarding = Forwarding(*described["forwards"]) if "forwards" in described else None

    def fill(self, cls: ClassObject) -> None:
        described, knowledge, interp = self.described, self.knowledge, self.interp
        builder = Builder(knowledge, interp, cls.module)
        for name, node, *_ in described.get("fields", ()):
            if isinstance(node, CONSTANTS):
                cls.fields[name] = node
        for name, node in described.get("attributes", {}).items():
            cls.fields[name] = builder.build(node)
        for name, summary in described.get("methods", {}).items():
            kind = self.described.get("kinds", {}).get(name)
            if cls.name == "AutoBridge" and name in HUGGINGFACE:
                function = Function(
                    definition(name, [["self", "a", REQUIRED], ["kwargs", "**", REQUIRED]]), cls.module, None, name, cls
                )
            else:
                function = upstream_function(self.knowledge, interp, cls.module, name, summary, cls)
            cls.fields[name] = Descriptor(kind, function) if kind else function
        for name, summary in described.get("properties", {}).items():
            setters, setter = described.get("setters", {}), None  # without one, assigning is an error
            getter = self._accessor(interp, cls, name, summary, partial(_unknown_property, cls, name))
            if name in setters:
                setter = self._accessor(interp, cls, name, setters[name], _unknown_setter)
            cls.fields[name] = Descriptor("property", getter, setter)
        if "made" in described:
            cls.fields["__post_init__"] = self._hook(cls, "__post_init__", self._made)
        if "sets" in described:
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._sets)
        if self.forwarding is not None:
            cls.fields["__getattr__"] = self._hook(cls, "__getattr__", self._get_forwarded)
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._set_forwarded)

    def field_specs(self, cls: ClassObject) -> list[FieldSpec]:
        builder = Builder(self.knowledge, self.interp, cls.module)
        return [self._spec(builder, cls, *field) for field in self.described.get("fields", ())]

    def also_set(self, name: str) -> Sequence[str]:
        also: Mapping[str, Sequence[str]] = self.described.get("sets") or {}
        return also.get(name, ())

    def provider(self, method: str, architecture: str | None) -> Object:
        return self.knowledge.provider(self.interp, method, architecture)

    def _spec(self, builder: Builder, cls: ClassObject, name: str, node: Node, flags: str = "") -> FieldSpec:
        init, keyword_only = "i" not in flags, "k" in flags
        if node == REQUIRED:
            return FieldSpec(name, init=init, keyword_only=keyword_only)
        if isinstance(node, CONSTANTS) or node[0] in ("ext", "enum", "ref"):
            return FieldSpec(name, builder.build(node), init=init, keyword_only=keyword_only)

        def make(interp: Interpreter, call: Call) -> Object:
            return Builder(self.knowledge, interp, cls.module, call.frame, site=call.node).build(node)

        return FieldSpec(name, factory=Native(f"{cls.name}.{name}", make), init=init, keyword_only=keyword_only)

    def _accessor(self, interp: Interpreter, cls: ClassObject, name: str, summary: Any, otherwise: Model) -> Function:
        """Make the getter or setter of a property; `otherwise` is run where nothing is known of it."""
        if summary:
            return upstream_function(self.knowledge, interp, cls.module, name, summary, cls)
        return self._hook(cls, name, otherwise)

    def _hook(self, cls: ClassObject, name: str, run: Model) -> Function:
        function = Function(definition(name, []), cls.module, None, name, cls)
        function.unwrapped = Native(f"{cls.qualified_name}.{name}", run)
        return function

    def _made(self, interp: Interpreter, call: Call) -> None:
        """Write the fields that constructing an instance changes, beyond passed and declared values."""
        instance = call.arguments[0]
        made = self.described["made"]
        if made is None or not isinstance(instance, Instance) or not isinstance(instance.cls, ClassObject):
            forget_reachable(interp, instance)
            return
        # If it may be of several classes, those of all count.
        found = (base for cls in classes_of(instance) if isinstance(cls, ClassObject) for base in mro(interp, cls))
        own = next((base for base in found if isinstance(base, ClassObject) and base.data is self), None)
        if own is None:
            forget_reachable(interp, instance)
            return
        specs = fields_of(interp, own)
        given = {spec.name for spec in specs if _is_given(instance, spec)}
        arguments_given = Arguments(dict(instance.fields), given)
        builder = Builder(self.knowledge, interp, own.module, call.frame, arguments_given)
        # All values first: what they say of a field is what it was before.
        values = {name: builder.build(node) for name, node in made.items()}
        for name, value in values.items():
            if value is not MISSING:
                interp.put(instance, name, value)

    def _sets(self, interp: Interpreter, call: Call) -> None:
        instance, name, value = call.arguments
        if self.described["sets"] is None:
            forget_reachable(interp, instance)
        interp.put(instance, name, value)
        for other in self.also_set(str(name)):
            if isinstance(instance, Instance) and other in instance.fields:
                interp.put(instance, other, value)

    def _get_forwarded(self, interp: Interpreter, call: Call) -> Object:
        assert self.forwarding is not None
        instance, name = call.arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            return interp.unknown()
        return self.forwarding.get(interp, instance, name, call.node, call.frame)

    def _set_forwarded(self, interp: Interpreter, call: Call) -> None:
        assert self.forwarding is not None
        instance, name, value = call.arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            forget_reachable(interp, instance)
            return
        self.forwarding.set(interp, instance, name, value, call.node, call.frame)


def _is_given(instance: Instance, spec: FieldSpec) -> bool:
    """Tell whether an optional field has another value than its default."""
    if spec.default is MISSING:
        return spec.factory is not MISSING and spec.name in instance.writes
    return not identical(instance.fields.get(spec.name, MISSING), spec.default)


def _unknown_property(cls: ClassObject, name: str, interp: Interpreter, _: Call) -> Object:
    return interp.unknown(f"{cls.name}.{name}")


def _unknown_setter(interp: Interpreter, call: Call) -> None:
    forget_reachable(interp, call.arguments[0])
