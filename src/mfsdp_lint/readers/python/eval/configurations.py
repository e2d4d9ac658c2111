"""What a configuration is, among all objects of a program."""

from __future__ import annotations

from mfsdp_lint.readers.python.eval.classes import class_names
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.objects import Choice, ConfigTree, DictObject, Instance, Object, Unknown
from mfsdp_lint.vocabulary.sections import SECTIONS

CONTAINER = "ConfigContainer"


def is_container(machine: Machine, value: Object) -> bool:
    """Whether an object is a configuration container (Megatron-Bridge's ConfigContainer or a class derived from it)."""
    if not isinstance(value, Instance) or isinstance(value.cls, Choice):
        return False
    return any(name.rpartition(".")[2] == CONTAINER for name in class_names(machine, value.cls))


def changed_from_outside(value: Object) -> bool:
    """An unknown object into which settings were written: a configuration that comes from elsewhere."""
    if not isinstance(value, Unknown) or isinstance(value, ConfigTree):
        return False
    return any(
        name in SECTIONS and isinstance(part, (Unknown, DictObject)) and bool(part.writes)
        for name, part in value.fields.items()
        if isinstance(name, str)
    ) or any(name in SECTIONS for name in value.writes if isinstance(name, str))
