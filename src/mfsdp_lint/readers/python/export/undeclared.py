"""Assignments to names that are no field of the object's class.

A dataclass takes any attribute, so `cfg.checkpoint.ckpt_fromat = "fsdp_dtensor"` passes in silence and nobody ever
reads it. Told only of a class that is known completely: a dataclass without a base out of sight, with no hook of its
own for reading or writing attributes, and no attribute or property of that name. And not of names that are set on
purpose: private ones, and those that other code at hand reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.classes import fields_by_name, has_fields, lookup, opaque
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import MISSING, Instance, Object, Write

_HOOKS = ("__setattr__", "__getattr__", "__getattribute__", "__slots__")
_DEEPEST = 12

_READ = re.compile(r"\.(\w+)\b(?!\s*=[^=])")
_WRITTEN = re.compile(r"\.(\w+)\s*=[^=]")
_GETATTR = re.compile(r"getattr\(([^()]*)")
_QUOTED = re.compile(r"[\"'](\w+)(?=[\"'])")


def undeclared(machine: Machine, root: Object) -> Iterator[tuple[str, ClassObject, tuple[str, ...], Write]]:
    """Those below a configuration: path, class, the names that the class has, the write."""
    yield from _below(machine, root, "", frozenset())


def _below(
    machine: Machine, owner: Object, prefix: str, above: frozenset[int]
) -> Iterator[tuple[str, ClassObject, tuple[str, ...], Write]]:
    if not isinstance(owner, Instance) or id(owner) in above or len(above) > _DEEPEST:
        return
    if isinstance(owner.cls, ClassObject):
        declared = fields_by_name(machine, owner.cls)
        if not owner.writes.keys() <= declared.keys() and _is_closed(machine, owner, owner.cls):
            for name, write in owner.writes.items():
                if name not in declared and _is_meant(machine, owner.cls, name, write):
                    yield f"{prefix}{name}", owner.cls, tuple(declared), write
    inside = [(name, inner) for name, inner in owner.fields.items() if type(inner) is Instance]
    for name, inner in inside:
        if isinstance(name, str):
            yield from _below(machine, inner, f"{prefix}{name}.", above | {id(owner)})


def _is_meant(machine: Machine, cls: ClassObject, name: str, write: object) -> bool:
    """Whether a write to a name that is no field was meant for one."""
    return (
        isinstance(write, Write)
        and _is_assignment(write)
        and not name.startswith("_")
        and lookup(machine, cls, name)[0] is MISSING
        and not _is_read(machine, name)
    )


def _is_read(machine: Machine, name: str) -> bool:
    """Whether a file at hand reads an attribute of this name, as far as its text tells."""
    key = ("read", name, len(machine.finder.by_path))
    if key not in machine.memo:
        paths = [module.path for module in machine.finder.by_path.values() if module is not None]
        machine.memo[key] = any(_reads(machine.finder.sources.text(path), name) for path in paths)
    found: bool = machine.memo[key]
    return found


def _reads(text: str, name: str) -> bool:
    """Whether a text reads an attribute."""
    return name in text and any(name in line and name in _reads_of(line) for line in text.splitlines())


def _reads_of(line: str) -> set[str]:
    """The attributes that a line reads; none that it writes as well."""
    asked = (name for call in _GETATTR.findall(line) for name in _QUOTED.findall(call))
    return {*_READ.findall(line), *asked}.difference(_WRITTEN.findall(line))


def _is_closed(machine: Machine, owner: Instance, cls: ClassObject) -> bool:
    return (
        has_fields(machine, cls)
        and not opaque(machine, cls)
        and not owner.writes.get(HAZY)
        and all(lookup(machine, cls, hook)[0] is MISSING for hook in _HOOKS)
    )


def _is_assignment(write: Write) -> bool:
    """An assignment from outside: what a class's own methods keep on `self` is theirs to read."""
    if write.how != "assigned":
        return False
    targets = getattr(write.node, "targets", None) or [getattr(write.node, "target", None)]
    return not any(
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
        for target in targets
    )
