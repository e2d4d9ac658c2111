"""Attributes by name, identity, names in scope."""

from __future__ import annotations

import ast
import builtins

from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write, write_around
from mfsdp_lint.readers.python.eval.attributes import attributes_of, attributes_of_unknown, get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import evaluate, invoke, run_block
from mfsdp_lint.readers.python.state.forgetting import havoc, is_part, part_of
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import BUILTINS, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    External,
    Instance,
    ListObject,
    Object,
    Unknown,
    obstacle_of,
)

LONGEST_PROGRAM = 10_000
"""Characters of a text that is followed as a program."""


@models("builtins.getattr")
def _getattr(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[1])
    if isinstance(name, Choice) and all(isinstance(option, str) for option in name.options):
        return join(
            machine,
            [
                _getattr(machine, call.passing([call.arguments[0], option, *call.arguments[2:]]))
                for option in name.options
            ],
        )
    if not isinstance(name, str):
        return join(machine, [*_parts(machine, call.arguments[0]), *call.arguments[2:], machine.unknown()])
    if len(call.arguments) < 3:
        return get_attribute(machine, call.arguments[0], name, call.node, call.frame)
    owner = machine.settle(call.arguments[0])
    if isinstance(owner, Choice):
        return join(
            machine, [_getattr(machine, call.passing([option, name, call.arguments[2]])) for option in owner.options]
        )
    if has_attribute(machine, owner, name, call.node, call.frame) is None and not isinstance(owner, Unknown):
        try:
            return join(machine, [get_attribute(machine, owner, name, call.node, call.frame), call.arguments[2]])
        except Raised:
            return machine.unknown(name)
    try:
        return get_attribute(machine, owner, name, call.node, call.frame)
    except Raised as error:
        if error.name != "AttributeError":
            raise
        return call.arguments[2]


def _parts(machine: Machine, owner: Object) -> list[Object]:
    """Return the objects that an attribute of `owner` may be, whatever its name."""
    owner = machine.settle(owner)
    if isinstance(owner, Choice):
        return [part for option in owner.options for part in _parts(machine, option)]
    fields = owner.fields if isinstance(owner, (Instance, Unknown)) else {}
    parts = [part for key, part in fields.items() if is_part(key)]
    held = [one for part in parts for one in (part.options if isinstance(part, Choice) else (part,))]
    return [one for one in held if isinstance(one, (Instance, Unknown, DictObject, ListObject))]


@models("builtins.setattr")
def _setattr(machine: Machine, call: Call) -> Object:
    owner, name, value = call.arguments
    name = machine.settle(name)
    if isinstance(name, str):
        focus = call.node.args[2] if isinstance(call.node, ast.Call) and len(call.node.args) == 3 else None
        set_attribute(machine, owner, name, value, call.node, call.frame, focus)
    else:
        outer, machine.obstacle = machine.obstacle, obstacle_of(name)
        havoc(machine, owner)
        machine.obstacle = outer
    return None


@models("object.__getattribute__")
def _object_getattribute(machine: Machine, call: Call) -> Object:
    owner, name = (machine.settle(argument) for argument in call.arguments)
    if not isinstance(owner, Instance) or not isinstance(name, str) or not isinstance(owner.cls, ClassObject):
        return machine.unknown(str(name))
    # Without `__getattr__`, which is what this is called for.
    if name not in owner.fields and lookup(machine, owner.cls, name)[0] is MISSING:
        raise Raised("AttributeError", f"'{owner.cls.name}' object has no attribute '{name}'")
    return get_attribute(machine, owner, name, call.node, call.frame)


@models("object.__setattr__")
def _object_setattr(machine: Machine, call: Call) -> Object:
    owner, name, value = call.arguments
    if isinstance(owner, Instance) and isinstance(name, str):
        write_around(machine, owner, name, value, call.node, call.frame, None, "assigned")
    elif isinstance(owner, Unknown) and isinstance(name, str):
        write(machine, owner, name, value, call.node, call.frame, None, "assigned")
    elif isinstance(owner, Choice) and isinstance(name, str):
        set_attribute(machine, owner, name, value, call.node, call.frame)
    else:
        havoc(machine, owner)
    return None


@models("builtins.delattr", "object.__delattr__")
def _delattr(machine: Machine, call: Call) -> Object:
    owner, name = (machine.settle(argument) for argument in call.arguments)
    if isinstance(owner, (Instance, Unknown)) and isinstance(name, str):
        machine.drop(owner, name)
    else:
        havoc(machine, owner)
    return None


@models("builtins.hasattr")
def _hasattr(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[1])
    known = (
        has_attribute(machine, machine.settle(call.arguments[0]), name, call.node, call.frame)
        if isinstance(name, str)
        else None
    )
    if known is None and isinstance(call.arguments[0], Unknown) and isinstance(name, str):
        return part_of(machine, call.arguments[0], ("has", name), f"hasattr({call.arguments[0].text}, {name!r})")
    return machine.unknown("", not_none=True) if known is None else known


@models("builtins.id", "builtins.hash")
def _identity(machine: Machine, call: Call) -> Object:
    return machine.unknown("", not_none=True)


@models("builtins.vars")
def _vars(machine: Machine, call: Call) -> Object:
    owner = machine.settle(call.arguments[0]) if call.arguments else None
    if isinstance(owner, Instance):
        return attributes_of(machine, owner)
    if isinstance(owner, Unknown):
        return attributes_of_unknown(machine, owner)
    if isinstance(owner, Module):
        return invoke(machine, written(machine, "builtins.names_of"), call.passing([owner]))
    if not call.arguments:
        return _locals(machine, call.passing([]))
    return machine.unknown("vars()", not_none=True)


@models("builtins.globals")
def _globals(machine: Machine, call: Call) -> Object:
    return invoke(machine, written(machine, "builtins.names_of"), call.passing([call.frame.module]))


@models("builtins.locals")
def _locals(machine: Machine, call: Call) -> Object:
    if call.frame.fields is call.frame.module.fields:
        return _globals(machine, call)
    return DictObject(dict(call.frame.fields), machine.tick())


@models("builtins.eval", "builtins.exec")
def _run_text(machine: Machine, call: Call) -> Object:
    text = machine.settle(call.arguments[0]) if len(call.arguments) == 1 else None
    function = getattr(getattr(call.node, "func", None), "id", "")
    if isinstance(text, str) and function in ("eval", "exec") and len(text) < LONGEST_PROGRAM:
        try:
            tree = ast.parse(text.strip() if function == "eval" else text, mode=function)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise Raised("SyntaxError", "invalid syntax") from None
        for inner in ast.walk(tree):
            ast.copy_location(inner, call.node)
        if isinstance(tree, ast.Expression):
            return evaluate(machine, tree.body, call.frame)
        run_block(machine, tree.body, call.frame)  # type: ignore[attr-defined]
        return None
    # It may do anything to what it can name.
    here: Frame | None = call.frame
    while here is not None:
        for value in list(here.fields.values()):
            havoc(machine, value)
        here = here.enclosing
    for value in [
        *call.arguments,
        *call.keywords.values(),
        machine.path.environment,
        *call.frame.module.fields.values(),
    ]:
        havoc(machine, value)
    return machine.unknown("eval()")


@models("builtins.dir")
def _names(machine: Machine, call: Call) -> Object:
    return machine.unknown("", not_none=True)


@models("object")
def _object(machine: Machine, call: Call) -> Object:
    return machine.unknown("object()", not_none=True)


@models("builtins.print")
def _nothing(machine: Machine, call: Call) -> Object:
    return None


BUILTINS["object"] = External("object")
BUILTINS["super"] = External("super")
BUILTINS["NotImplemented"] = External("NotImplemented")
BUILTINS["Ellipsis"] = ...
BUILTINS["__debug__"] = True
for _error in [
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
]:
    BUILTINS[_error] = External(_error)
BUILTINS["open"] = External("builtins.open")
BUILTINS["input"] = External("builtins.input")
