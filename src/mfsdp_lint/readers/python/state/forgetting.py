"""Havoc: forgetting what something out of sight may have changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from mfsdp_lint.readers.python.state.generators import Coroutine
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import EITHER, HAZY, IDENTITY, OPTIONS, STRAY
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    Choice,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)


def havoc(machine: Machine, value: Object, seen: set[int] | None = None) -> None:
    """Forget what `value` and everything reachable from it holds: something out of sight may have changed it."""
    machine.forgetting(value)
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, (str, int, float, type(None))):
        return
    seen.add(id(value))
    match value:
        case Instance() | DictObject():
            machine.record(value, HAZY, True)
            for item in value.writes.get(STRAY, ()):
                havoc(machine, item, seen)
            for key, item in list(value.fields.items()):
                havoc(machine, item, seen)
                if not isinstance(item, (Instance, DictObject, ListObject)):
                    before = machine.before(value, key)
                    machine.put(value, key, machine.unknown(str(key)))
                    if machine.suspect is not None:
                        machine.record(value, key, machine.suspect._replace(earlier=before, value=value.fields[key]))
        case ListObject():
            for item in value.items or []:
                havoc(machine, item, seen)
            machine.put(value, "items", None)
        case Unknown():
            for one in value.fields.get(EITHER, ()):
                havoc(machine, one, seen)
            if OPTIONS in value.fields:
                havoc(machine, value.fields[OPTIONS], seen)
            for key, part in list(value.fields.items()):
                if key not in IDENTITY:
                    if isinstance(part, (Unknown, DictObject)) and part.writes:
                        # What was written is forgotten, but not that something was.
                        machine.record(value, key, next(iter(part.writes.values())))
                    machine.drop(value, key)
        case Choice(options=options):
            for option in options:
                havoc(machine, option, seen)
        case tuple():
            for item in value:
                havoc(machine, item, seen)
        case Coroutine():
            # It may be awaited, and change what it was given.
            for item in (*value.given, *value.fields.values()):
                havoc(machine, item, seen)
        case Bound(owner=owner, function=function):
            havoc(machine, owner, seen)
            havoc(machine, function, seen)
        case Partial(arguments=arguments, keywords=keywords, function=function):
            for item in (*arguments, *keywords.values(), function):
                havoc(machine, item, seen)
        case Function(defaults=defaults):
            # It may be called, and write what it closes over.
            for item in (*defaults.values(), *_within_reach(value)):
                if isinstance(item, (Instance, DictObject, ListObject, Unknown, Choice, Function)):
                    havoc(machine, item, seen)
            if "environ" in _names_in(value.node):
                havoc(machine, machine.path.environment, seen)


def _within_reach(function: Function) -> Iterator[Object]:
    """What a function finds in those around it and in its module, by the names in its code."""
    names = _names_in(function.node)
    here: Frame | None = function.closure
    while here is not None:
        yield from (here.fields[name] for name in names if name in here.fields)
        here = here.enclosing
    yield from (function.module.fields[name] for name in names if name in function.module.fields)


@cache
def _names_in(definition: ast.AST) -> frozenset[str]:
    nodes = list(ast.walk(definition))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) | {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr == "environ"
    }
