"""Hooks of a class definition: `__init_subclass__` of its bases, and its metaclass."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.classes import bases, lookup, metaclass, namespace
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import MADE
from mfsdp_lint.readers.python.values.objects import Descriptor, DictObject, Function, Object


def is_watched(node: ast.ClassDef, known: dict[Any, Object]) -> bool:
    """Tell whether code of the program may run when this class is defined, as far as its own file shows."""
    pending, seen = [node], {node}
    while pending:
        here = pending.pop()
        if here.keywords or (here is not node and _watches(here)):
            return True
        for base in here.bases:
            found = known.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(found, ClassObject) and found.node is not None and found.node not in seen:
                seen.add(found.node)
                pending.append(found.node)
    return False


def _watches(node: ast.ClassDef) -> bool:
    return any(isinstance(inner, ast.FunctionDef) and inner.name == "__init_subclass__" for inner in node.body)


def announce(machine: Machine, cls: ClassObject, frame: Frame) -> Object:
    """Run what the definition of a class runs; the class."""
    assert cls.node is not None
    keywords = {each.arg: evaluate(machine, each.value, frame) for each in cls.node.keywords if each.arg}
    keywords.pop("metaclass", None)
    meta = metaclass(machine, cls)
    if isinstance(meta, ClassObject):
        body = DictObject(dict(namespace(machine, cls)), machine.tick())
        body.writes[MADE] = cls
        for name, first in (("__new__", meta), ("__init__", cls)):
            hook = lookup(machine, meta, name)[0]
            if isinstance(hook, Function):
                given: list[Object] = [first, cls.name, tuple(bases(machine, cls)), body]
                invoke(machine, hook, Call(given, dict(keywords), cls.node, frame))
    hook = lookup(machine, cls, "__init_subclass__", after=cls)[0]
    hook = hook.function if isinstance(hook, Descriptor) else hook
    if isinstance(hook, Function):
        invoke(machine, hook, Call([cls], keywords, cls.node, frame))
    return cls


def class_being_made(machine: Machine, arguments: list[Object]) -> Object:
    """Evaluate `type.__new__(metaclass, name, bases, namespace)`: the class being defined, with that namespace."""
    body = arguments[-1] if arguments else None
    cls = body.writes.get(MADE) if isinstance(body, DictObject) else None
    if not isinstance(body, DictObject) or not isinstance(cls, ClassObject):
        return machine.unknown("type", not_none=True)
    cls.fields.update(body.fields)
    return cls
