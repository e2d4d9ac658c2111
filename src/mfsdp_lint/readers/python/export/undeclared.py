"""Writes to names that are no field of the object's class.

A dataclass takes any attribute, so `cfg.checkpoint.ckpt_fromat = "fsdp_dtensor"` passes in silence and nobody ever
reads it; an override (`checkpoint.ckpt_fromat=fsdp_dtensor`) is refused, or passed over. An assignment is told only
of a class that is known completely: a dataclass without a base out of sight, with no hook of its own for reading or
writing attributes, and no attribute or property of that name. And not of names that are set on purpose: private ones,
and those that other code at hand reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.recipe import Origin, Undeclared
from mfsdp_lint.readers.python.eval.classes import fields_by_name, has_fields, lookup, opaque
from mfsdp_lint.readers.python.library.config_trees import lacked_by
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import MISSING, DictObject, Instance, Lacked, Object, Write

_HOOKS = ("__setattr__", "__getattr__", "__getattribute__", "__slots__")
_DEEPEST = 12

_READ = re.compile(r"\.(\w+)\b(?!\s*=[^=])")
_WRITTEN = re.compile(r"\.(\w+)\s*=[^=]")
_GETATTR = re.compile(r"getattr\(([^()]*)")
_QUOTED = re.compile(r"[\"'](\w+)(?=[\"'])")


def undeclared(
    machine: Machine, root: Object, program: Callable[[], Sequence[str]], place_of: Callable[[Write], Origin | None]
) -> Iterator[Undeclared]:
    """Yield the undeclared writes below a configuration of a program, as far as their places are known."""
    for path, owner, names, lacked in _below(machine, root, "", frozenset(), program):
        if place := place_of(lacked.write):
            yield Undeclared(path, owner, names, place, lacked.below, lacked.refused)


def _below(
    machine: Machine, owner: Object, prefix: str, above: frozenset[int], program: Callable[[], Sequence[str]]
) -> Iterator[tuple[str, str, tuple[str, ...], Lacked]]:
    """Yield the path, the name of the owner's class, the names that the owner has, and the write."""
    if not isinstance(owner, (Instance, DictObject)) or id(owner) in above or len(above) > _DEEPEST:
        return
    for lacked in lacked_by(owner):
        if lacked.refused or not _is_read(machine, program, lacked.name):
            names = tuple(name for name in owner.fields if isinstance(name, str))
            yield f"{prefix}{lacked.name}", _name_of(owner, prefix), names, lacked
    if isinstance(owner, DictObject):
        return
    if isinstance(owner.cls, ClassObject):
        declared = fields_by_name(machine, owner.cls)
        if not owner.writes.keys() <= declared.keys() and _is_closed(machine, owner, owner.cls):
            for name, write in owner.writes.items():
                if name not in declared and _is_meant(machine, owner.cls, name, write, program):
                    yield f"{prefix}{name}", owner.cls.name, tuple(declared), Lacked(name, "", write, refused=False)
    inside = [(name, inner) for name, inner in owner.fields.items() if type(inner) in (Instance, DictObject)]
    for name, inner in inside:
        if isinstance(name, str):
            yield from _below(machine, inner, f"{prefix}{name}.", above | {id(owner)}, program)


def _name_of(owner: Instance | DictObject, prefix: str) -> str:
    """Return the name of the owner that lacks a name: a class, or a dictionary by its path."""
    cls = owner.cls if isinstance(owner, Instance) else None
    return cls.name if isinstance(cls, ClassObject) else prefix.rstrip(".") or "the configuration"


def _is_meant(
    machine: Machine, cls: ClassObject, name: str, write: object, program: Callable[[], Sequence[str]]
) -> bool:
    """Tell whether a write to a name that is no field was meant for a field."""
    return (
        isinstance(write, Write)
        and _is_assignment(write)
        and not name.startswith("_")
        and lookup(machine, cls, name)[0] is MISSING
        and not _is_read(machine, program, name)
    )


def _is_read(machine: Machine, program: Callable[[], Sequence[str]], name: str) -> bool:
    """Tell whether a file of a program reads an attribute of this name, as far as its text tells."""
    return any(_is_read_in(machine, path, name) for path in program())


def _is_read_in(machine: Machine, path: str, name: str) -> bool:
    key = ("read", name, path)
    if key not in machine.memo:
        text = machine.finder.sources.text_or_none(path)
        machine.memo[key] = text is not None and _reads(text, name)
    found: bool = machine.memo[key]
    return found


def _reads(text: str, name: str) -> bool:
    """Tell whether a text reads an attribute."""
    return name in text and any(name in line and name in _reads_of(line) for line in text.splitlines())


def _reads_of(line: str) -> set[str]:
    """Return the attributes that a line reads and does not write as well."""
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
    """Tell whether a write assigns from outside: attributes that a class's own methods keep on `self` are theirs."""
    if write.how != "assigned":
        return False
    targets = getattr(write.node, "targets", None) or [getattr(write.node, "target", None)]
    return not any(
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
        for target in targets
    )
