"""Configurations among all objects of a program."""

from __future__ import annotations

from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.readers.python.eval.classes import class_names
from mfsdp_lint.readers.python.eval.nemo import changes_run, is_run
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.markers import TASK
from mfsdp_lint.readers.python.values.objects import Choice, ConfigTree, DictObject, Instance, Object, Unknown

CONTAINER = "ConfigContainer"


def is_container(machine: Machine, value: Object) -> bool:
    """Tell whether an object configures a run: Megatron-Bridge's ConfigContainer, a subclass of it, a run of NeMo."""
    if not isinstance(value, Instance) or isinstance(value.cls, Choice):
        return is_run(value)
    return any(name.rpartition(".")[2] == CONTAINER for name in class_names(machine, value.cls))


def changed_from_outside(value: Object) -> bool:
    """Tell whether settings were written into an unknown object: it is a configuration that comes from elsewhere."""
    if not isinstance(value, Unknown) or isinstance(value, ConfigTree):
        return False
    if TASK in value.fields:  # what it was given are its own arguments, and nobody's settings
        return changes_run(value)
    return (
        changes_run(value)
        or any(
            name in SECTIONS and isinstance(part, (Unknown, DictObject)) and bool(part.writes)
            for name, part in value.fields.items()
            if isinstance(name, str)
        )
        or any(name in SECTIONS for name in value.writes if isinstance(name, str))
    )
