"""Search for the text that decides a value: from the expression that hands it on back to the one that says it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from mfsdp_lint.readers.python.state.given import agrees, argument
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.parts import imported, inside, part, path_to, turn
from mfsdp_lint.readers.python.state.texts import TRACERS, Text, behind, binding, holder, peek, place, trace, written
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HELD
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    EnumMember,
    External,
    Function,
    Place,
    StandardObject,
)


def _name(machine: Machine, node: ast.Name, frame: Frame) -> tuple[Place, ...]:
    owner = holder(frame, node.id)
    if owner is None:
        return _of_star(machine, frame.module, node.id)
    bound = binding(owner, node.id)
    if bound is None:
        return behind(machine, argument(machine, owner, node.id)) if isinstance(owner, Frame) else ()
    by, there = bound
    if isinstance(by, (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return behind(machine, turn(machine, by, node.id, there))
    if isinstance(by, ast.expr):
        return behind(machine, Text(by, there))
    if isinstance(by, ast.ImportFrom):
        return trace(machine, imported(machine, by, node.id))
    if isinstance(by, ast.Assign):
        return _unpacked(machine, by, node.id, there)
    return (place(Text(by, there)),) if isinstance(by, ast.AugAssign) else ()


def _of_star(machine: Machine, module: Module, name: str) -> tuple[Place, ...]:
    for star in reversed(module.stars):
        if isinstance(star, Module) and name in star.fields:
            bound = binding(star, name)
            return behind(machine, Text(*bound)) if bound is not None and isinstance(bound[0], ast.expr) else ()
    return ()


def _unpacked(machine: Machine, node: ast.Assign, name: str, frame: Frame) -> tuple[Place, ...]:
    for target in node.targets:
        path = path_to(target, name)
        if path is not None:
            return behind(machine, Text(inside(node.value, path), frame))
    return behind(machine, Text(node.value, frame))


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> tuple[Place, ...]:
    owner = peek(machine, node.value, frame)
    if isinstance(node.value, ast.Call) and owner is MISSING:
        # `Options().on`, where the object itself does not have it.
        cls = peek(machine, node.value.func, frame)
        owner = cls if isinstance(cls, ClassObject) and node.attr in cls.known else MISSING
    if isinstance(owner, Module):
        bound = binding(owner, node.attr)
        return behind(machine, Text(*bound)) if bound is not None and isinstance(bound[0], ast.expr) else ()
    if isinstance(owner, EnumMember) and isinstance(owner.cls, ClassObject):
        return written(owner.cls, owner.name)
    return written(owner, node.attr) or part(machine, Text(node.value, frame), node.attr)


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> tuple[Place, ...]:
    key, whole = peek(machine, node.slice, frame), Text(node.value, frame)
    found = part(machine, whole, key) if isinstance(key, CONSTANTS) else ()
    if found:
        return found
    if _is_parser(peek(machine, node.value, frame)):
        return ()
    places = trace(machine, whole)
    # What a display spreads and nobody wrote comes from a caller that is not in the tree.
    return () if places and isinstance(places[-1][1], ast.Dict) else places


def _if_expression(machine: Machine, node: ast.IfExp, frame: Frame) -> tuple[Place, ...]:
    test = peek(machine, node.test, frame)
    if all(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in (node.body, node.orelse)):
        return trace(machine, Text(node.test, frame))
    if not isinstance(test, CONSTANTS):
        return ()
    return behind(machine, Text(node.body if test else node.orelse, frame))


def _either(machine: Machine, node: ast.BoolOp, frame: Frame) -> tuple[Place, ...]:
    return _operands(machine, node.values, frame)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> tuple[Place, ...]:
    return _operands(machine, (node.left, node.right), frame)


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> tuple[Place, ...]:
    return trace(machine, Text(node.operand, frame))


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> tuple[Place, ...]:
    return _operands(machine, (node.left, *node.comparators), frame)


def _formatted(machine: Machine, node: ast.JoinedStr, frame: Frame) -> tuple[Place, ...]:
    return _operands(machine, (part.value for part in node.values if isinstance(part, ast.FormattedValue)), frame)


def _keyword(machine: Machine, node: Any, frame: Frame) -> tuple[Place, ...]:
    return trace(machine, Text(node.value, frame))


def _call(machine: Machine, node: ast.Call, frame: Frame) -> tuple[Place, ...]:
    if machine.returned is not None and machine.returned[0] is node:
        said = machine.returned[1]
        return behind(machine, said) if isinstance(said, Text) else said
    called = node.func
    receiver = called.value if isinstance(called, ast.Attribute) else None
    if isinstance(peek(machine, called, frame), (Function, ClassObject)):
        return ()
    if isinstance(called, ast.Name) and called.id == "getattr" and len(node.args) > 1:
        return _named(machine, node, node.args, frame)
    if isinstance(called, ast.Attribute) and called.attr in ("get", "pop", "setdefault") and node.args:
        return _named(machine, node, [called.value, *node.args], frame)
    if receiver is not None:
        owner = peek(machine, receiver, frame)
        if _is_parser(owner):
            return ()
        if isinstance(owner, (Module, External, ClassObject)) or _is_pattern(owner):
            receiver = None
    values = (keyword.value for keyword in node.keywords)
    return _operands(machine, (*([receiver] if receiver is not None else ()), *node.args, *values), frame)


def _is_parser(value: object) -> bool:
    """Tell whether a value is a parser or one of its sections, whose making decides nothing of what it reads."""
    return type(value) is StandardObject and (value.part_of is not None or HELD in value.fields)


def _is_pattern(value: object) -> bool:
    """Tell whether a value is a compiled regular expression: the text that it is matched with decides."""
    return type(value) is StandardObject and hasattr(value.held, "fullmatch")


def _named(machine: Machine, node: ast.Call, nodes: list[ast.expr], frame: Frame) -> tuple[Place, ...]:
    """Trace the value of `getattr(owner, name, default)` or `owner.get(name, default)`."""
    key = peek(machine, nodes[1], frame)
    found = part(machine, Text(nodes[0], frame), key) if isinstance(key, CONSTANTS) else ()
    if found or len(nodes) < 3:
        return found
    default, given = Text(nodes[2], frame), peek(machine, node, frame)
    return behind(machine, default) if given is MISSING or agrees(machine, default, given) else ()


def _operands(machine: Machine, nodes: Iterable[ast.expr], frame: Frame) -> tuple[Place, ...]:
    """Trace a computed value to its only source, which decides it; return nothing if there are several."""
    found = [places for places in (trace(machine, Text(node, frame)) for node in nodes) if places]
    return found[0] if found and all(places[-1] == found[0][-1] for places in found) else ()


TRACERS.update(
    {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.IfExp: _if_expression,
        ast.BoolOp: _either,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.JoinedStr: _formatted,
        ast.Call: _call,
        ast.keyword: _keyword,
        ast.NamedExpr: _keyword,
        ast.Starred: _keyword,
    }
)
