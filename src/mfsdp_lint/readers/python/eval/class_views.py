"""Views of a class that Python gives a program: `__mro__`, `__bases__`, `__dict__` and `__annotations__`."""

from __future__ import annotations

import abc
import ast
import typing
from functools import partial

from mfsdp_lint.readers.python.eval.classes import bases, is_dataclass, is_enum, metaclass, mro, namespace
from mfsdp_lint.readers.python.state.calling import evaluate, isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import base_name
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    ClassObject,
    DictObject,
    External,
    Frame,
    Object,
    Partial,
    StandardObject,
)

_BY_PYTHON = {"object": object, "abc.ABC": abc.ABC, "typing.Generic": typing.Generic}
"""Bases that Python brings along, and that derive from nothing else."""
_OBJECT = External("object")


class _Plain:
    pass


def order(interp: Interpreter, cls: ClassObject) -> tuple[Object, ...] | None:
    """Return the classes that `cls` derives from, itself first; None where a base is out of sight."""
    found = [each for each in mro(interp, cls) if isinstance(each, ClassObject) or base_name(each) != "object"]
    seen = all(
        (isinstance(each, ClassObject) and (each.data is None or not each.data.opaque)) or base_name(each) in _BY_PYTHON
        for each in found
    )
    return (*found, _OBJECT) if seen else None


def direct_bases(interp: Interpreter, cls: ClassObject) -> tuple[Object, ...]:
    """Return `__bases__` of a class."""
    return tuple(bases(interp, cls)) or (_OBJECT,)


def own_attributes(interp: Interpreter, cls: Object) -> DictObject | None:
    """Return `vars(cls)`, the attributes that the class itself has; None where its body does not show them all.

    Of Python's own only those are known that a class's text gives.
    """
    if isinstance(cls, External) and base_name(cls) in _BY_PYTHON:
        return _unknown(interp, vars(_BY_PYTHON[base_name(cls)]))
    if not isinstance(cls, ClassObject) or cls.node is None or cls.given_by is not None or is_enum(interp, cls):
        return None
    if order(interp, cls) is None or metaclass(interp, cls) is not None:
        return None
    if cls.node.decorator_list and not is_dataclass(interp, cls):
        return None
    if any(word.arg == "slots" for each in cls.node.decorator_list for word in getattr(each, "keywords", ())):
        return None
    made = DictObject({"__module__": cls.module.name}, interp.tick())
    for name, value in namespace(interp, cls).items():
        if isinstance(value, Partial) and getattr(value.function, "name", "") == "dataclasses.field":
            value = value.keywords.get("default", MISSING)
        if value is not MISSING:
            made.fields[name] = value
    made.fields |= {name: StandardObject(interp.tick(), vars(_Plain)[name]) for name in ("__dict__", "__weakref__")}
    if "__doc__" not in made.fields:
        # (A dataclass without a docstring is given one.)
        is_given = ast.get_docstring(cls.node) is not None or cls.node.decorator_list
        made.fields["__doc__"] = interp.unknown("__doc__", not_none=True) if is_given else None
    made.writes.update(cls.writes)
    return made


def _unknown(interp: Interpreter, names: typing.Iterable[str]) -> DictObject:
    return DictObject({name: interp.unknown(name) for name in names}, interp.tick())


def annotated(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the annotations in the body of a class by the names that have them."""
    return {
        each.target.id: each.annotation
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }


def own_annotations(interp: Interpreter, cls: ClassObject) -> DictObject | None:
    """Return `__annotations__` of a class; None where its body does not show them."""
    if cls.node is None:
        return None
    are_texts = any(
        isinstance(each, ast.ImportFrom) and each.module == "__future__" and each.names[0].name == "annotations"
        for each in cls.module.tree.body
    )
    frame = cls.closure or Frame(cls.module)
    made = DictObject({}, interp.tick())
    for name, annotation in annotated(cls.node).items():
        if are_texts:
            made.fields[name] = ast.unparse(annotation)
        elif isinstance(annotation, ast.Constant):
            made.fields[name] = annotation.value
        else:
            made.fields[name] = hint(interp, annotation, frame)
    return made


def hint(interp: Interpreter, annotation: ast.expr | None, frame: Frame) -> Object:
    """Return the type that an annotation means, as `typing.get_type_hints` does; unknown where that is not followed."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            annotation = None
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return External("types.NoneType")
    if annotation is None:
        return interp.unknown("type", not_none=True)
    try:
        return isolated(interp, partial(evaluate, interp, annotation, frame))
    except Raised:
        return interp.unknown("type", not_none=True)
