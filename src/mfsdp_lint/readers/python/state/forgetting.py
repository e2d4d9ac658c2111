"""Forgetting what something out of sight may have changed; parts of unknown objects, made when first asked for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.state.calling import ByType, Coroutine
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.trees import nodes_in
from mfsdp_lint.readers.python.values.markers import (
    EITHER,
    FORMER,
    IDENTITY,
    MAY_HAVE_CHANGED,
    OPTIONS,
    REST,
    UNKNOWN_KEYS,
)
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    DictObject,
    Frame,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)

_DEFINITION = lazy_pattern(r"def (\w+)\(")

_SHARING = (REST, MAY_HAVE_CHANGED, EITHER)
"""Markers that name the objects with which an unknown one shares its parts."""


@dataclass(slots=True, eq=False)
class Former:
    """A part of an unknown object from before code out of sight may have changed it."""

    owner: Unknown
    key: Any
    part: Unknown


def part_of(interp: Interpreter, value: Unknown, key: Any, text: str) -> Object:
    """Return an attribute or entry of an unknown value: the same one for each request, and as old as the whole."""
    known: Object = value.fields.get(key, MISSING)
    if known is not MISSING:
        return known
    found: Object
    if REST in value.fields:
        found = part_of(interp, value.fields[REST], key, text)
        if MAY_HAVE_CHANGED in value.fields and isinstance(found, Unknown):
            found = changed(interp, value, key, found)
    else:
        found = interp.unknown(text)
        found.born, found.obstacle = value.born, value.obstacle
    value.fields[key] = found
    return found


def shallow_copy(interp: Interpreter, value: Unknown | Instance) -> Unknown:
    """Make another object with the same parts, including those that nobody has asked for yet."""
    if isinstance(value, Unknown) and REST not in value.fields:
        value.fields[REST] = Unknown(value.born, value.text, obstacle=value.obstacle)
    made = interp.unknown(getattr(value, "text", ""), getattr(value, "not_none", True))
    made.obstacle = getattr(value, "obstacle", None)
    made.fields = {key: part for key, part in value.fields.items() if is_part(key) or key in _SHARING}
    made.writes = dict(value.writes)
    return made


def is_part(key: Any) -> bool:
    """Tell whether a field of an unknown object is an attribute or entry of it, and not the answer to a question."""
    return isinstance(key, str) or (isinstance(key, tuple) and key[0] == "entry")


def changed(interp: Interpreter, owner: Unknown, key: Any, part: Unknown) -> Unknown:
    """Return the new form of a part that may have changed: another value, or the same object with other contents."""
    former: Former | None = part.fields.get(FORMER)
    part = part if former is None else former.part
    found = interp.unknown(part.text)
    found.born, found.obstacle = owner.born, interp.obstacle or part.obstacle
    found.fields[FORMER] = Former(owner, key, part)
    return found


def as_object(interp: Interpreter, value: Unknown) -> Unknown:
    """Return the object that a value may be: code out of sight leaves it in place, and changes its contents."""
    former: Former | None = value.fields.get(FORMER)
    if former is None:
        return value
    if former.owner.fields.get(former.key) is value:
        interp.put(former.owner, former.key, former.part)
    return former.part


def forget_reachable(interp: Interpreter, value: Object, seen: set[int] | None = None) -> None:
    """Forget what `value` and everything reachable from it holds: something out of sight may have changed it.

    Whoever forgets several values at once hands the same `seen` to all: what they share is forgotten once.
    """
    if type(value) in PLAIN:
        return
    interp.forgetting(value)
    seen = set() if seen is None else seen
    if id(value) not in seen:
        seen.add(id(value))
        FORGETTERS[type(value)](interp, value, seen)


def _forget_nothing(interp: Interpreter, value: Object, seen: set[int]) -> None:
    pass


def _forget_fields(interp: Interpreter, value: Instance | DictObject, seen: set[int]) -> None:
    interp.record(value, MAY_HAVE_CHANGED, True)
    if isinstance(value, DictObject) and value.view_of is not None:
        forget_reachable(interp, value.view_of, seen)
    for item in value.writes.get(UNKNOWN_KEYS, ()):
        forget_reachable(interp, item, seen)
    suspect = interp.suspect
    for key, item in list(value.fields.items()):
        if type(item) not in PLAIN:
            forget_reachable(interp, item, seen)
            if isinstance(item, (Instance, DictObject, ListObject)):
                continue
        before = None if suspect is None else interp.before(value, key)
        interp.put(value, key, interp.unknown(str(key)))
        if suspect is not None:
            interp.record(value, key, suspect._replace(earlier=before, value=value.fields[key]))


def _forget_elements(interp: Interpreter, value: ListObject, seen: set[int]) -> None:
    for item in value.items or ():
        forget_reachable(interp, item, seen)
    interp.put(value, "items", None)


def _forget_parts(interp: Interpreter, value: Unknown, seen: set[int]) -> None:
    fields = value.fields
    if not fields:
        return
    for one in fields.get(EITHER, ()):
        forget_reachable(interp, one, seen)
    if OPTIONS in fields:
        forget_reachable(interp, fields[OPTIONS], seen)
    if FORMER in fields:
        forget_reachable(interp, fields[FORMER].part, seen)
    for key, part in list(fields.items()):
        if key not in IDENTITY:
            if isinstance(part, (Unknown, DictObject)) and part.writes:
                # What was written is forgotten, but not that something was.
                interp.record(value, key, next(iter(part.writes.values())))
            if key is REST:
                interp.put(value, MAY_HAVE_CHANGED, True)
            elif is_part(key):
                forget_reachable(interp, part, seen)
                if isinstance(part, Unknown) and not any(map(is_part, part.fields)):
                    interp.put(value, key, changed(interp, value, key, part))
                elif not isinstance(part, (Instance, DictObject, ListObject, Unknown)):
                    interp.drop(value, key)
            elif key is not MAY_HAVE_CHANGED:
                interp.drop(value, key)


def _forget_all(interp: Interpreter, values: Iterable[Object], seen: set[int]) -> None:
    for item in values:
        forget_reachable(interp, item, seen)


def _forget_callable(interp: Interpreter, value: Function, seen: set[int]) -> None:
    """Forget the objects that a function closes over: it may be called and write to them."""
    _forget_reach(interp, value.node, (*value.defaults.values(), *_within_reach(value)), seen)


PLAIN = frozenset((str, int, float, bool, type(None)))
"""The kinds of values of which there is nothing to forget."""

FORGETTERS: ByType[Callable[[Interpreter, Any, set[int]], None]] = ByType(
    {
        Instance: _forget_fields,
        DictObject: _forget_fields,
        ListObject: _forget_elements,
        Unknown: _forget_parts,
        Choice: lambda interp, value, seen: _forget_all(interp, value.options, seen),
        tuple: lambda interp, value, seen: _forget_all(interp, value, seen),
        # It may be awaited, and change what it was given.
        Coroutine: lambda interp, value, seen: _forget_all(interp, (*value.given, *value.fields.values()), seen),
        Bound: lambda interp, value, seen: _forget_all(interp, (value.owner, value.function), seen),
        Partial: lambda interp, value, seen: _forget_all(
            interp, (*value.arguments, *value.keywords.values(), value.function), seen
        ),
        Function: _forget_callable,
        object: _forget_nothing,
    }
)
"""How what each kind of value holds is forgotten."""


def forget_methods(interp: Interpreter, name: str) -> bool:
    """Forget what the program's own methods of a name may change beside their objects; False where it has none.

    Of an object whose class is not known, any of them may have run.
    """
    program = interp.program()
    # (The interpreter keeps the files of a program; a hash of all their names takes longer than all else here.)
    key = ("methods", name, id(program))
    if key not in interp.memo:
        known, sources = interp.finder.relevance.defined, interp.finder.sources
        for path in program:
            if path not in known:
                known[path] = frozenset(_DEFINITION.findall(sources.text_or_none(path) or ""))
        own = [interp.finder.load(path) for path in program if name in known[path]]
        interp.memo[key] = [(each, method) for each in own if each for method in _methods(each.tree).get(name, ())]
    for module, method in interp.memo[key]:
        held = [module.fields[each] for each in _names_in(method) if each in module.fields]
        _forget_reach(interp, method, held, set())
    return bool(interp.memo[key])


@cache
def _methods(tree: ast.Module) -> Mapping[str, list[ast.AST]]:
    """Return the methods of the classes in a file, by their names."""
    found: dict[str, list[ast.AST]] = {}
    for cls in tree.body:
        if isinstance(cls, ast.ClassDef):
            for method in cls.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.setdefault(method.name, []).append(method)
    return found


def _forget_reach(interp: Interpreter, definition: ast.AST, held: Iterable[Object], seen: set[int]) -> None:
    for item in held:
        if isinstance(item, (Instance, DictObject, ListObject, Unknown, Choice, Function)):
            forget_reachable(interp, item, seen)
    if "environ" in _names_in(definition):
        forget_reachable(interp, interp.path.environment, seen)


def _within_reach(function: Function) -> Iterator[Object]:
    """Yield the values that a function finds in those around it and in its module, by the names in its code."""
    names = _names_in(function.node)
    here: Frame | None = function.closure
    while here is not None:
        yield from (here.fields[name] for name in names if name in here.fields)
        here = here.enclosing
    yield from (function.module.fields[name] for name in names if name in function.module.fields)


@cache
def _names_in(definition: ast.AST) -> frozenset[str]:
    nodes = nodes_in(definition)
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) | {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr == "environ"
    }
