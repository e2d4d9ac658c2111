"""Configurations that hand attributes on to a part of themselves.

`model.tensor_model_parallel_size` of a builder configuration is that of `model.transformer`: the class has a
`__getattr__` and a `__setattr__` that say so (Megatron-Bridge 0.4.2, models/gpt/gpt_builder.py; head,
models/gpt/model_config.py). What these two do is found by trying them on a part that has known attributes.
"""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject, classes_of
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Function, Instance, Object, Unknown

PART, OWN, REFUSED = "part", "own", "refused"

DECLARED, ADDED, ABSENT = "declared_probe", "added_probe", "absent_probe"
PROBE = f"""
from dataclasses import dataclass

@dataclass
class Probe:
    {DECLARED}: object = None
    %s: object = None
"""


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


def forwarding(machine: Machine, cls: ClassObject) -> Forwarding | None:
    """Find the field to which a dataclass's own `__getattr__` and `__setattr__` forward, and how; None if to none."""
    hooks = [lookup(machine, cls, name)[0] for name in ("__getattr__", "__setattr__")]
    if not any(isinstance(hook, Function) for hook in hooks):
        return None
    names = [spec.name for spec in fields_of(machine, cls)]
    for number, field in enumerate(names):
        other = names[number - 1]
        if other != field and _set(machine, cls, field, other, DECLARED) == PART:
            writes = [_set(machine, cls, field, other, name) for name in (DECLARED, ADDED, other, ABSENT)]
            if None not in writes:
                return Forwarding(field, _reads(machine, cls, field, other), *map(str, writes))
    return None


def _made(machine: Machine, cls: ClassObject, field: str, other: str) -> tuple[Instance, Instance]:
    """Make an instance, and its part in `field`, whose class declares `other` as well."""
    machine.begin(())
    module = Module("<probe>", "<probe>", ast.parse(PROBE % other))
    probe = resolve_global(machine, module, "Probe")
    assert isinstance(probe, ClassObject)
    part = Instance(probe, machine.tick())
    part.fields.update({DECLARED: "known", ADDED: "known", other: "known"})
    whole = Instance(cls, machine.tick())
    for spec in fields_of(machine, cls):
        whole.fields[spec.name] = machine.unknown(spec.name)
    whole.fields[field] = part
    return whole, part


def _reads(machine: Machine, cls: ClassObject, field: str, other: str) -> bool:
    whole, _ = _made(machine, cls, field, other)
    try:
        return bool(get_attribute(machine, whole, DECLARED, None, Frame(cls.module)) == "known")
    except Raised:
        return False


def _set(machine: Machine, cls: ClassObject, field: str, other: str, name: str) -> str | None:
    """Find where an attribute arrives; None if that is not certain."""
    whole, part = _made(machine, cls, field, other)
    try:
        set_attribute(machine, whole, name, "written", None, Frame(cls.module))
    except Raised as error:
        return REFUSED if error.name == "AttributeError" else None
    arrived = [place for place, owner in ((PART, part), (OWN, whole)) if owner.fields.get(name) == "written"]
    return arrived[0] if len(arrived) == 1 else None
