"""Assignments: names, attributes, entries, unpacking, deletion."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import lookup, special
from mfsdp_lint.readers.python.eval.containers import any_of, delete_entry, entry, set_entry
from mfsdp_lint.readers.python.eval.imports import forget_assigned
from mfsdp_lint.readers.python.eval.iteration import elements, has_methods, operated
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.state.calling import EVALUATORS, Signal, evaluate, invoke
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.own_argv import is_argv
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import part_of_each
from mfsdp_lint.readers.python.state.variables import changeable_argv, is_environment
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    Descriptor,
    DictObject,
    External,
    Frame,
    Instance,
    ListObject,
    Object,
    Unknown,
    obstacle_of,
    uncertain,
)


def run_assign(interp: Interpreter, node: ast.Assign, frame: Frame) -> Signal:
    focus = node.value
    value = EVALUATORS[type(focus)](interp, focus, frame)
    for target in node.targets:
        assign(interp, target, value, node, frame, focus)
    return None


def assign(interp: Interpreter, target: ast.expr, value: Object, node: Any, frame: Frame, focus: Any = None) -> None:
    """Run `target = value` for the statement `node`; `focus` is the expression that gives the value."""
    if type(target) is ast.Name:
        assign_name(interp, target.id, value, frame)
        bind(target.id, value, focus or node, frame)
    elif type(target) is ast.Attribute:
        set_attribute(interp, evaluate(interp, target.value, frame), target.attr, value, node, frame, focus)
    elif isinstance(target, ast.Subscript):
        holder = evaluate(interp, target.value, frame)
        key = evaluate(interp, target.slice, frame)
        set_entry(interp, holder, key, value, node, frame, focus)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(interp, target, value, node, frame)
    elif isinstance(target, ast.Starred):
        assign(interp, target.value, value, node, frame)


def assign_name(interp: Interpreter, name: str, value: Object, frame: Frame) -> None:
    """Run `name = value` in `frame`, honouring `global` and `nonlocal`."""
    interp.put(frame.outer.get(name, frame) if frame.outer else frame, name, value)


def bind(name: str, value: Object, node: Any, frame: Frame) -> None:
    """Remember what bound a name to a value: the expression that says it, or the statement."""
    owner = frame.outer.get(name, frame) if frame.outer else frame
    bound = owner.bindings.get(name)
    if bound is None:
        bound = owner.bindings[name] = {}
    elif node in bound:
        del bound[node]  # the last comes last
    bound[node] = value, None if owner is frame or frame.fields is frame.module.fields else frame


def _unpack(interp: Interpreter, target: ast.Tuple | ast.List, value: Object, node: Any, frame: Frame) -> None:
    value = interp.settle(value)
    if type(value) is Choice and value.is_selection and not any(map(_is_starred, target.elts)):
        rows = [each for each in value.options if isinstance(each, tuple) and len(each) == len(target.elts)]
        if len(rows) == len(value.options):
            # The parts of a row of a table, as in `tp, pp = SIZES[size]`, keep together.
            for position, name in enumerate(target.elts):
                assign(interp, name, part_of_each(interp, value, [row[position] for row in rows]), node, frame)
            return
    perhaps = elements(interp, value, frame)
    items = None if perhaps is not None and any(map(uncertain, perhaps)) else perhaps
    names = target.elts
    starred = next((i for i, one in enumerate(names) if isinstance(one, ast.Starred)), None)
    if items is None:
        with interp.blaming(obstacle_of(value) or interp.obstacle):
            for name in names:
                is_rest = isinstance(name, ast.Starred)
                part = ListObject(None, interp.tick()) if is_rest else any_of(interp, perhaps or ())
                assign(interp, name, part, node, frame)
        return
    if starred is None:
        if len(items) != len(names):
            raise Raised("ValueError", "wrong number of values to unpack")
        parts = list(items)
        values = (
            node.value.elts
            if isinstance(getattr(node, "value", None), (ast.Tuple, ast.List)) and len(node.value.elts) == len(names)
            else names
        )
    else:
        after = len(names) - starred - 1
        if len(items) < starred + after:
            raise Raised("ValueError", "not enough values to unpack")
        middle = ListObject(list(items[starred : len(items) - after]), interp.tick())
        parts = [*items[:starred], middle, *items[len(items) - after :]]
        values = names
    for position, (name, part, focus) in enumerate(zip(names, parts, values, strict=True)):
        by = interp.piece(value, position) if focus is name and starred is None else focus
        assign(interp, name, part, node, frame, by)


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def run_annotated(interp: Interpreter, node: ast.AnnAssign, frame: Frame) -> Signal:
    if node.value is not None:
        assign(interp, node.target, evaluate(interp, node.value, frame), node, frame, node.value)
    return None


def run_augmented(interp: Interpreter, node: ast.AugAssign, frame: Frame) -> Signal:
    target = node.target
    if isinstance(target, ast.Name):
        current = evaluate(interp, ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
        value = _added(interp, node, current, frame)
        assign_name(interp, target.id, value, frame)
        bind(target.id, value, node, frame)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(interp, target.value, frame)
        current = get_attribute(interp, owner, target.attr, node, frame)
        set_attribute(interp, owner, target.attr, _added(interp, node, current, frame), node, frame, node.value)
    else:
        owner = evaluate(interp, target.value, frame)
        key = evaluate(interp, target.slice, frame)
        current = entry(interp, owner, key, node, frame)
        set_entry(interp, owner, key, _added(interp, node, current, frame), node, frame, node.value)
    return None


def _added(interp: Interpreter, node: ast.AugAssign, current: Object, frame: Frame) -> Object:
    value = evaluate(interp, node.value, frame)
    current = interp.settle(current)
    if is_argv(current):
        current = changeable_argv(interp, node, frame)
    if has_methods(current) or has_methods(value):
        found = operated(interp, type(node.op), current, value, node, frame, in_place=True)
        if found is not MISSING:
            return found
    if isinstance(current, ListObject) and isinstance(node.op, ast.Add):
        # A list is extended in place: other names for it see the change.
        invoke(interp, Bound("extend", current), Call([value], {}, node, frame))
        return current
    if isinstance(current, DictObject) and isinstance(node.op, ast.BitOr):
        return invoke(interp, Bound("__ior__", current), Call([value], {}, node, frame))
    if is_environment(current) and isinstance(node.op, ast.BitOr):
        invoke(interp, External("os.environ.update"), Call([value], {}, node, frame))
        return current
    if isinstance(current, (DictObject, ListObject)):
        found = binary(interp, type(node.op), current, value)
        if isinstance(current, ListObject) and isinstance(found, ListObject):
            interp.put(current, "items", found.items)
            return current
        # Changed in place, in a way that is not known.
        forget_reachable(interp, current)
        return current
    return binary(interp, type(node.op), current, value)


def _delete_attribute(interp: Interpreter, owner: Object, name: str, node: Any, frame: Frame) -> None:
    hook = special(interp, owner, "__delattr__")
    found = lookup(interp, owner.cls, name)[0] if isinstance(owner, Instance) and hook is None else MISSING
    if hook is not None:
        invoke(interp, hook, Call([owner, name], {}, node, frame))
    elif isinstance(found, Descriptor) and found.kind == "property":
        forget_reachable(interp, owner)  # by its deleter
    elif isinstance(owner, (Instance, Unknown)):
        if isinstance(owner, Instance) and name not in owner.fields and not owner.writes.get(MAY_HAVE_CHANGED):
            raise Raised("AttributeError", name)
        interp.drop(owner, name)
    elif isinstance(owner, Choice):
        forget_reachable(interp, owner)


def run_delete(interp: Interpreter, node: ast.Delete, frame: Frame) -> Signal:
    for target in node.targets:
        if isinstance(target, ast.Name):
            owner: Any = frame.outer.get(target.id, frame)
            if target.id not in owner.fields:
                raise Raised("NameError", target.id)
            interp.drop(owner, target.id)
        elif isinstance(target, ast.Attribute):
            owner = evaluate(interp, target.value, frame)
            _delete_attribute(interp, interp.settle(owner), target.attr, node, frame)
        elif isinstance(target, ast.Subscript):
            holder = evaluate(interp, target.value, frame)
            delete_entry(interp, holder, evaluate(interp, target.slice, frame))
    return None


def run_scope(interp: Interpreter, node: ast.Global | ast.Nonlocal, frame: Frame) -> Signal:
    if interp.path.may_assign:
        forget_assigned(interp, frame.module)  # what the function assigns comes later
    for name in node.names:
        owner: Any = frame.module
        if isinstance(node, ast.Nonlocal):
            here = frame.enclosing
            while here is not None and name not in here.fields:
                here = here.enclosing
            owner = here or frame
        frame.outer = {**frame.outer, name: owner}
    return None
