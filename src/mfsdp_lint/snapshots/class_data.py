"""Upstream's classes, in the terms of the evaluator's own: by what the snapshot says of each.

Some configurations hand attributes on to a part of themselves: `model.tensor_model_parallel_size` of a builder
configuration is that of `model.transformer`. The class has a `__getattr__` and a `__setattr__` that say so
(Megatron-Bridge 0.4.2, models/gpt/gpt_builder.py; head, models/gpt/model_config.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, mro
from mfsdp_lint.readers.python.eval.functions import HUGGINGFACE
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject, FieldSpec, classes_of
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Descriptor,
    Function,
    Instance,
    Native,
    Object,
    Unknown,
    identical,
)
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.build import Arguments, Builder
from mfsdp_lint.snapshots.functions import REQUIRED, definition, upstream_function

if TYPE_CHECKING:
    from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge


PART, OWN, REFUSED = "part", "own", "refused"


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

    def get(self, machine: Machine, instance: Instance, name: str, node: Any, frame: Frame) -> Object:
        """Read `instance.name` if the instance itself does not have it. Raises Raised where Python would."""
        part = machine.settle(instance.fields.get(self.field, MISSING))
        if not self.reads or part is MISSING or name == self.field:
            raise Raised("AttributeError", name)
        return get_attribute(machine, part, name, node, frame)

    def set(self, machine: Machine, instance: Instance, name: str, value: Object, node: Any, frame: Frame) -> None:
        """Assign `instance.name = value`. Raises Raised where Python would."""
        part = machine.settle(instance.fields.get(self.field, MISSING))
        match self._goes_to(machine, instance, part, name, frame):
            case "part":
                set_attribute(machine, part, name, value, node, frame)
            case "own":
                machine.put(instance, name, value)
            case "refused":
                raise Raised("AttributeError", name)
            case _:
                # Wherever it went, it is read back by this name; whether the part has it now is not known.
                machine.put(instance, name, value)
                if isinstance(part, (Instance, Unknown)):
                    machine.put(part, name, machine.unknown(name))

    def _goes_to(self, machine: Machine, instance: Instance, part: Object, name: str, frame: Frame) -> str | None:
        if part is MISSING or name == self.field:
            return OWN
        own = _declares(machine, instance, name)
        if self.declared == self.added == self.both == self.absent or (own and self.both == OWN):
            return OWN
        there = has_attribute(machine, part, name, None, frame)
        if there is None or own is None:
            return None
        if not there:
            return OWN if own else self.absent
        if own or self.declared == self.added:
            return self.both if own else self.declared
        declared = _declares(machine, part, name)
        return None if declared is None else self.declared if declared else self.added


def _declares(machine: Machine, instance: Object, name: str) -> bool | None:
    """Tell whether the class of an object declares a field; None if that is not known."""
    if not isinstance(instance, Instance):
        return None
    classes = classes_of(instance)
    at_hand = [cls for cls in classes if isinstance(cls, ClassObject)]
    if len(at_hand) < len(classes):
        return None
    answers = {any(spec.name == name for spec in fields_of(machine, cls)) for cls in at_hand}
    return answers.pop() if len(answers) == 1 else None


class ClassData:
    """Knowledge of a class from a snapshot, in the terms of the evaluator's classes."""

    __slots__ = ("described", "forwarding", "is_dataclass", "is_frozen", "knowledge", "opaque")

    def __init__(self, knowledge: SnapshotKnowledge, described: Any) -> None:
        self.knowledge = knowledge
        self.described = described
        self.is_dataclass = described["kind"] == "dataclass"
        self.opaque = bool(described.get("opaque"))
        self.is_frozen = bool(described.get("frozen"))
        self.forwarding = Forwarding(*described["forwards"]) if "forwards" in described else None

    def fill(self, machine: Machine, cls: ClassObject) -> None:
        """Add the attributes that the class itself has."""
        described, knowledge = self.described, self.knowledge
        builder = Builder(knowledge, machine, cls.module)
        for name, node, *_ in described.get("fields", ()):
            if isinstance(node, CONSTANTS):
                cls.fields[name] = node
        for name, node in described.get("attributes", {}).items():
            cls.fields[name] = builder.build(node)
        for name, summary in described.get("methods", {}).items():
            cls.fields[name] = self._method(machine, cls, name, summary)
        for name, summary in described.get("properties", {}).items():
            cls.fields[name] = Descriptor(
                "property", self._property(machine, cls, name, summary), self._setter(machine, cls, name)
            )
        if "made" in described:
            cls.fields["__post_init__"] = self._hook(cls, "__post_init__", self._made)
        if "sets" in described:
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._sets)
        if self.forwarding is not None:
            cls.fields["__getattr__"] = self._hook(cls, "__getattr__", self._get_forwarded)
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._set_forwarded)

    def field_specs(self, machine: Machine, cls: ClassObject) -> list[FieldSpec]:
        """Return the fields that the class itself declares."""
        return [self._spec(machine, cls, *field) for field in self.described.get("fields", ())]

    def provider(self, machine: Machine, method: str, architecture: str | None) -> Object:
        """See Knowledge.provider; only AutoBridge is asked."""
        return self.knowledge.provider(machine, method, architecture)

    def _spec(self, machine: Machine, cls: ClassObject, name: str, node: Node, flags: str = "") -> FieldSpec:
        init, keyword_only = "i" not in flags, "k" in flags
        if node == REQUIRED:
            return FieldSpec(name, init=init, keyword_only=keyword_only)
        if isinstance(node, CONSTANTS) or node[0] in ("ext", "enum", "ref"):
            return FieldSpec(
                name, Builder(self.knowledge, machine, cls.module).build(node), init=init, keyword_only=keyword_only
            )

        def make(machine: Machine, call: Call) -> Object:
            return Builder(self.knowledge, machine, cls.module, call.frame, site=call.node).build(node)

        return FieldSpec(name, factory=Native(f"{cls.name}.{name}", make), init=init, keyword_only=keyword_only)

    def _method(self, machine: Machine, cls: ClassObject, name: str, summary: Any) -> Object:
        kind = self.described.get("kinds", {}).get(name)
        if cls.name == "AutoBridge" and name in HUGGINGFACE:
            function = Function(
                definition(name, [["self", "a", REQUIRED], ["kwargs", "**", REQUIRED]]), cls.module, None, name, cls
            )
        else:
            function = upstream_function(self.knowledge, machine, cls.module, name, summary, cls)
        return Descriptor(kind, function) if kind else function

    def _property(self, machine: Machine, cls: ClassObject, name: str, summary: Any) -> Function:
        if summary:
            return upstream_function(self.knowledge, machine, cls.module, name, summary, cls)
        return self._hook(cls, name, lambda machine, call: machine.unknown(f"{cls.name}.{name}"))

    def _setter(self, machine: Machine, cls: ClassObject, name: str) -> Function | None:
        """Make the setter of a property; None if assigning to it is an error."""
        setters = self.described.get("setters", {})
        if name not in setters:
            return None
        if setters[name]:
            return upstream_function(self.knowledge, machine, cls.module, name, setters[name], cls)
        return self._hook(cls, name, lambda machine, call: havoc(machine, call.arguments[0]))

    def _hook(self, cls: ClassObject, name: str, run: Model) -> Function:
        function = Function(definition(name, []), cls.module, None, name, cls)
        function.unwrapped = Native(f"{cls.qualified_name}.{name}", run)
        return function

    def _made(self, machine: Machine, call: Call) -> None:
        """Write the fields that constructing an instance changes, beyond passed and declared values."""
        instance = call.arguments[0]
        made = self.described["made"]
        if made is None or not isinstance(instance, Instance) or not isinstance(instance.cls, ClassObject):
            havoc(machine, instance)
            return
        # If it may be of several classes, those of all count.
        found = (base for cls in classes_of(instance) if isinstance(cls, ClassObject) for base in mro(machine, cls))
        own = next((base for base in found if isinstance(base, ClassObject) and base.data is self), None)
        if own is None:
            havoc(machine, instance)
            return
        specs = fields_of(machine, own)
        given = {spec.name for spec in specs if _is_given(instance, spec)}
        arguments_given = Arguments(dict(instance.fields), given)
        builder = Builder(self.knowledge, machine, own.module, call.frame, arguments_given)
        # All values first: what they say of a field is what it was before.
        values = {name: builder.build(node) for name, node in made.items()}
        for name, value in values.items():
            if value is not MISSING:
                machine.put(instance, name, value)

    def _sets(self, machine: Machine, call: Call) -> None:
        instance, name, value = call.arguments
        sets = self.described["sets"]
        if sets is None:
            havoc(machine, instance)
        machine.put(instance, name, value)
        for other in sets.get(name, ()) if sets else ():
            if isinstance(instance, Instance) and other in instance.fields:
                machine.put(instance, other, value)

    def _get_forwarded(self, machine: Machine, call: Call) -> Object:
        assert self.forwarding is not None
        instance, name = call.arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            return machine.unknown()
        return self.forwarding.get(machine, instance, name, call.node, call.frame)

    def _set_forwarded(self, machine: Machine, call: Call) -> None:
        assert self.forwarding is not None
        instance, name, value = call.arguments
        if not isinstance(instance, Instance) or not isinstance(name, str):
            havoc(machine, instance)
            return
        self.forwarding.set(machine, instance, name, value, call.node, call.frame)


def _is_given(instance: Instance, spec: FieldSpec) -> bool:
    """Tell whether an optional field has another value than its default."""
    if spec.default is MISSING:
        return spec.factory is not MISSING and spec.name in instance.writes
    return not identical(instance.fields.get(spec.name, MISSING), spec.default)
