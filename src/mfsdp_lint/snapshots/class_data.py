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
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
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
    answers = {any(spec.name == name for spec in fields_of(interp, cls)) for cls in at_hand}
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

    def fill(self, interp: Interpreter, cls: ClassObject) -> None:
        """Add the attributes that the class itself has."""
        described, knowledge = self.described, self.knowledge
        builder = Builder(knowledge, interp, cls.module)
        for name, node, *_ in described.get("fields", ()):
            if isinstance(node, CONSTANTS):
                cls.fields[name] = node
        for name, node in described.get("attributes", {}).items():
            cls.fields[name] = builder.build(node)
        for name, summary in described.get("methods", {}).items():
            cls.fields[name] = self._method(interp, cls, name, summary)
        for name, summary in described.get("properties", {}).items():
            cls.fields[name] = Descriptor(
                "property", self._property(interp, cls, name, summary), self._setter(interp, cls, name)
            )
        if "made" in described:
            cls.fields["__post_init__"] = self._hook(cls, "__post_init__", self._made)
        if "sets" in described:
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._sets)
        if self.forwarding is not None:
            cls.fields["__getattr__"] = self._hook(cls, "__getattr__", self._get_forwarded)
            cls.fields["__setattr__"] = self._hook(cls, "__setattr__", self._set_forwarded)

    def field_specs(self, interp: Interpreter, cls: ClassObject) -> list[FieldSpec]:
        """Return the fields that the class itself declares."""
        return [self._spec(interp, cls, *field) for field in self.described.get("fields", ())]

    def provider(self, interp: Interpreter, method: str, architecture: str | None) -> Object:
        """See Knowledge.provider; only AutoBridge is asked."""
        return self.knowledge.provider(interp, method, architecture)

    def _spec(self, interp: Interpreter, cls: ClassObject, name: str, node: Node, flags: str = "") -> FieldSpec:
        init, keyword_only = "i" not in flags, "k" in flags
        if node == REQUIRED:
            return FieldSpec(name, init=init, keyword_only=keyword_only)
        if isinstance(node, CONSTANTS) or node[0] in ("ext", "enum", "ref"):
            return FieldSpec(
                name, Builder(self.knowledge, interp, cls.module).build(node), init=init, keyword_only=keyword_only
            )

        def make(interp: Interpreter, call: Call) -> Object:
            return Builder(self.knowledge, interp, cls.module, call.frame, site=call.node).build(node)

        return FieldSpec(name, factory=Native(f"{cls.name}.{name}", make), init=init, keyword_only=keyword_only)

    def _method(self, interp: Interpreter, cls: ClassObject, name: str, summary: Any) -> Object:
        kind = self.described.get("kinds", {}).get(name)
        if cls.name == "AutoBridge" and name in HUGGINGFACE:
            function = Function(
                definition(name, [["self", "a", REQUIRED], ["kwargs", "**", REQUIRED]]), cls.module, None, name, cls
            )
        else:
            function = upstream_function(self.knowledge, interp, cls.module, name, summary, cls)
        return Descriptor(kind, function) if kind else function

    def _property(self, interp: Interpreter, cls: ClassObject, name: str, summary: Any) -> Function:
        if summary:
            return upstream_function(self.knowledge, interp, cls.module, name, summary, cls)
        return self._hook(cls, name, lambda interp, call: interp.unknown(f"{cls.name}.{name}"))

    def _setter(self, interp: Interpreter, cls: ClassObject, name: str) -> Function | None:
        """Make the setter of a property; None if assigning to it is an error."""
        setters = self.described.get("setters", {})
        if name not in setters:
            return None
        if setters[name]:
            return upstream_function(self.knowledge, interp, cls.module, name, setters[name], cls)
        return self._hook(cls, name, lambda interp, call: forget_reachable(interp, call.arguments[0]))

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
        sets = self.described["sets"]
        if sets is None:
            forget_reachable(interp, instance)
        interp.put(instance, name, value)
        for other in sets.get(name, ()) if sets else ():
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
