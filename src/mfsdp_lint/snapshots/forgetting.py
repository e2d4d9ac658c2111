"""Forgetting no more than what a function of upstream may have changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mfsdp_lint.readers.python.eval.classes import has_fields, lookup, mro, namespace
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.classes import ClassObject, classes_of
from mfsdp_lint.readers.python.values.markers import EITHER, IDENTITY, MAY_HAVE_CHANGED, UNKNOWN_KEYS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)


def forget_names(interp: Interpreter, values: Iterable[Object], names: Sequence[str], contents: bool) -> bool:
    """Make the attributes of these names unknown in all that the values lead to; False where that is not enough.

    It is not where code of the user's own is among them, which upstream's may call. With `contents`, what lists and
    dictionaries hold is forgotten as well.
    """
    found = list(_reachable(interp, values))
    if not all(_is_known(interp, value) for value in found):
        return False
    for value in found:
        if isinstance(value, (Instance, Unknown)):
            for name in _written(value, names):
                _forget(interp, value, name)
        elif contents and isinstance(value, ListObject):
            interp.put(value, "items", None)
        elif contents and isinstance(value, DictObject):
            interp.record(value, MAY_HAVE_CHANGED, True)
            for key in list(value.fields):
                _forget(interp, value, key)
    for value in values:
        _add(interp, value, names)
    return True


def _reachable(interp: Interpreter, values: Iterable[Object]) -> Iterator[Object]:
    seen: set[int] = set()
    todo = list(values)
    while todo:
        value = interp.settle(todo.pop())
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Instance() | DictObject():
                todo += [*value.fields.values(), *value.writes.get(UNKNOWN_KEYS, ()), getattr(value, "view_of", None)]
            case Unknown():
                todo += [part for key, part in value.fields.items() if key not in IDENTITY and key is not EITHER]
                todo += value.fields.get(EITHER, ())
            case ListObject():
                todo += value.items or ()
            case Choice(options=options):
                todo += options
                continue
            case tuple():
                todo += value
                continue
            case Bound(owner=owner):
                todo += [owner, value.function]
                continue
            case Partial(function=function, arguments=arguments, keywords=keywords):
                todo += [function, *arguments, *keywords.values()]
                continue
        yield value


def only_upstream(interp: Interpreter, values: Iterable[Object]) -> bool:
    """Tell whether all code that these values bring along is upstream's."""
    return all(_is_known(interp, value) for value in _reachable(interp, values))


def _is_known(interp: Interpreter, value: Object) -> bool:
    """Tell whether the code that an object brings along is upstream's, which the bounds cover."""
    if isinstance(value, Function):
        return value.module.upstream is not None
    if not isinstance(value, Instance):
        return True
    return all(_has_known_code(interp, cls) for cls in classes_of(value) if isinstance(cls, ClassObject))


def _has_known_code(interp: Interpreter, cls: ClassObject) -> bool:
    if not has_fields(interp, cls):
        return False
    own = [base for base in mro(interp, cls) if isinstance(base, ClassObject) and base.data is None]
    return not any(
        isinstance(value, (Function, Descriptor)) for base in own for value in namespace(interp, base).values()
    )


def _written(value: Instance | Unknown, names: Sequence[str]) -> list[str]:
    """Return those of the names that the object has, and the names that its `__setattr__` writes for them."""
    also: list[str] = []
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        sets = getattr(value.cls.data, "described", {}).get("sets") or {}
        also = [other for name in names for other in sets.get(name, ())]
    return [name for name in (*names, *also) if name in value.fields]


def _forget(interp: Interpreter, value: Instance | Unknown | DictObject, name: object) -> None:
    before = interp.before(value, name)
    interp.put(value, name, interp.unknown(str(name)))
    if interp.suspect is not None:
        interp.record(value, name, interp.suspect._replace(earlier=before, value=value.fields[name]))


def _add(interp: Interpreter, value: Object, names: Sequence[str]) -> None:
    """Add attributes of these names that may exist: the passed object may have gained them."""
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject):
        for name in names:
            if name not in value.fields and lookup(interp, value.cls, name)[0] is MISSING:
                interp.put(value, name, Choice((MISSING, interp.unknown(name))))
