"""Texts of the program: an expression with the frame that it was evaluated in, and what it stands for by now.

Constants stand for themselves, so a value does not know where it comes from. The expressions do: `trace` follows a
value from the expression that hands it on to the text that says it (see deciding.py, which fills TRACERS).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.python.values.code import Deferred
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    ConfigTree,
    DictObject,
    EnumMember,
    Frame,
    Instance,
    Interpolation,
    ListObject,
    Module,
    Object,
    Option,
    Place,
    Unknown,
    Write,
    identical,
)

LOOKS = 60
"""Expressions that are looked at for one value."""


class Text(NamedTuple):
    """An expression (or a keyword argument), and the frame it was evaluated in."""

    node: Any
    frame: Frame


class Trail(Protocol):
    """The part of the interpreter that following a value through texts needs: its notes of what was evaluated."""

    looks: int
    crossings: int
    memo: dict[Any, Any]
    gave: dict[ast.expr, Object]
    returned: tuple[Any, Text | tuple[Place, ...]] | None

    def settle(self, value: Object) -> Object:
        """Return the value that `value` turned out to be on this path, if that was decided."""

    def piece(self, whole: Object, key: Object) -> Write | None:
        """Return the write of an element of a tuple or list; None where it is not known."""


TRACERS: dict[type, Callable[[Trail, Any, Frame], tuple[Place, ...]]] = {}
"""Functions that follow a value through each kind of expression."""


def trace(interp: Trail, text: Text | None) -> tuple[Place, ...]:
    """Return the texts that an expression has its value from, the nearest first; none if it says the value itself."""
    tracer = None if text is None else TRACERS.get(type(text.node))
    if text is None or tracer is None or interp.looks <= 0:
        return ()
    interp.looks -= 1
    return tracer(interp, text.node, text.frame)


def behind(interp: Trail, text: Text | None) -> tuple[Place, ...]:
    """Return the place of a text, and the places that it has its value from."""
    if text is None:
        return ()
    # (What was put together here stands nowhere.)
    own = (place(text),) if hasattr(text.node, "lineno") else ()
    return own + trace(interp, text)


def place(text: Text) -> Place:
    return text.frame.module, text.node, text.frame.function


def said_by(interp: Trail, node: Any, frame: Frame) -> tuple[Any, ...]:
    """Return the texts that decide the arguments of a call."""
    if not isinstance(node, ast.Call):
        return (node,)
    decided = []
    for given in (*node.args, *node.keywords):
        interp.looks = LOOKS
        places = trace(interp, Text(given, frame))
        decided.append(places[-1][1] if places else given)
    return tuple(decided)


def top(module: Module) -> Frame:
    """Return the frame of a module's top level."""
    frame = Frame(module)
    frame.fields, frame.bindings = module.fields, module.bindings
    return frame


def holder(frame: Frame, name: str) -> Frame | Module | None:
    """Return the owner of a name: the frame of a call or of an enclosing one, or the module; None without one."""
    here: Frame | None = frame
    while here is not None and here.fields is not here.module.fields:
        if name in here.outer:
            owner: Frame | Module = here.outer[name]
            return owner
        if name in here.fields and (here is frame or not here.is_class):
            return here
        here = here.enclosing
    return frame.module if name in frame.module.fields else None


def binding(owner: Frame | Module, name: str) -> tuple[Any, Frame] | None:
    """Return the binding of a name to its value: the expression or statement, and the frame that ran it; None else."""
    value = owner.fields.get(name, MISSING)
    found = owner.bindings.get(name, {})
    for node in reversed(found):
        bound, frame = found[node]
        if bound is value or identical(bound, value) or isinstance(node, ast.ImportFrom):
            return node, frame or (owner if isinstance(owner, Frame) else top(owner))
    return None


def peek(interp: Trail, node: Any, frame: Frame) -> Object:
    """Return the current value of an expression, as far as it is seen without evaluation; MISSING else."""
    kind = type(node)
    if kind is ast.keyword:
        return peek(interp, node.value, frame)
    if kind is ast.Constant:
        constant: Object = node.value
        return constant
    found: Any = MISSING
    if kind is ast.Name:
        owner = holder(frame, node.id)
        found = MISSING if owner is None else owner.fields[node.id]
    elif kind is ast.Attribute:
        found = _attribute(interp.settle(peek(interp, node.value, frame)), node.attr)
    elif kind is ast.Call or kind is ast.DictComp:
        found = interp.gave.get(node, MISSING)
    elif kind is ast.Subscript:
        found = _entry(interp.settle(peek(interp, node.value, frame)), peek(interp, node.slice, frame))
    elif kind is ast.UnaryOp and type(node.op) is ast.Not:
        operand = peek(interp, node.operand, frame)
        found = not operand if isinstance(operand, CONSTANTS) else MISSING
    elif kind is ast.Compare and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        found = _compared(type(node.ops[0]), peek(interp, node.left, frame), peek(interp, node.comparators[0], frame))
    return MISSING if isinstance(found, Deferred) else interp.settle(found)


_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


def _compared(kind: type, left: Object, right: Object) -> Object:
    """Compare two constants; MISSING where one of them is none, or they have no order."""
    if not isinstance(left, CONSTANTS) or not isinstance(right, CONSTANTS):
        return MISSING
    try:
        return _COMPARISONS[kind](left, right)
    except TypeError:
        return MISSING


def _attribute(owner: Object, name: str) -> Object:
    if isinstance(owner, (Instance, Unknown, Module, EnumMember)) and name in owner.fields:
        return owner.fields[name]
    if isinstance(owner, EnumMember) and name in ("name", "value"):
        return owner.name if name == "name" else owner.value
    cls = owner.cls if isinstance(owner, Instance) else owner
    if isinstance(cls, ClassObject) and cls.members and name in cls.members:
        return cls.members[name]
    return cls.known.get(name, (MISSING, None))[0] if isinstance(cls, ClassObject) else MISSING


def _entry(owner: Object, key: Object) -> Object:
    if isinstance(owner, (DictObject, ConfigTree)) and isinstance(key, CONSTANTS):
        return owner.fields.get(key, MISSING)
    items = owner.items if isinstance(owner, ListObject) else owner
    if isinstance(items, (list, tuple)) and isinstance(key, int) and -len(items) <= key < len(items):
        return items[key]
    return MISSING


def written(owner: Object, key: Object) -> tuple[Place, ...]:
    """Return the text that wrote an attribute or entry of an object, and the texts that this has its value from."""
    if isinstance(owner, ListObject):
        return (owner.places[key],) if isinstance(key, int) and -len(owner.places) <= key < len(owner.places) else ()
    if type(owner) is ConfigTree and type(entry := owner.fields.get(key)) is Interpolation and entry.found is not None:
        return written(*entry.found)
    write = owner.writes.get(key) if isinstance(owner, (Instance, DictObject, Unknown)) else None
    if isinstance(write, Write) and write.module is not None and isinstance(write.node, (ast.AST, Origin)):
        return handed_on(write)
    option = owner.fields.get(key) if isinstance(owner, Unknown) else None
    if isinstance(option, Option) and option.said is not None:
        return (option.said,)
    cls = owner.cls if isinstance(owner, Instance) and key not in owner.writes else owner
    found = _in_class(cls, key) if isinstance(cls, ClassObject) and isinstance(key, str) else ()
    return (*_made(owner), *found) if found and isinstance(owner, Instance) else found


def handed_on(write: Write) -> tuple[Place, ...]:
    """Return the text that wrote a value, and the texts that this has it from."""
    if write.module is None or write.module.written or not isinstance(write.node, (ast.AST, Origin)):
        return write.sources
    return ((write.module, write.focus or write.node, write.function), *write.sources)


def _made(owner: Instance) -> tuple[Place, ...]:
    """Return the call that made an object, and left some of its fields at their defaults."""
    made = owner.made
    if not isinstance(made, Write) or made.module is None or not isinstance(made.node, ast.Call):
        return ()
    return () if made.module.written or made.module.upstream is not None else ((made.module, made.node, made.function),)


def _in_class(cls: ClassObject, name: str) -> tuple[Place, ...]:
    """Return the text for an attribute in a class or its nearest base, a field's default included."""
    for base in cls.order or [cls]:
        if not isinstance(base, ClassObject) or base.node is None:
            continue
        later = base.writes.get(name)
        if isinstance(later, Write) and later.module is not None and isinstance(later.node, ast.AST):
            return ((later.module, later.focus or later.node, later.function), *later.sources)
        if base.said is None:
            said: dict[str, ast.expr | None] = {}
            for each in base.node.body:
                targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
                said.update(
                    (target.id, getattr(each, "value", None)) for target in targets if isinstance(target, ast.Name)
                )
            base.said = said
        if name in base.said:
            value = base.said[name]
            return () if value is None else ((base.module, value, base.name),)
    return ()
