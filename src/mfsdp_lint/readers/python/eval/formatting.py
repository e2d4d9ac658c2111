"""Text made from values: `str(value)` and formatted strings."""

from __future__ import annotations

import ast

from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.protocols import called
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.limits import LONGEST_TEXT, is_small, is_wide
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    External,
    Instance,
    ListObject,
    Object,
    PartlyKnown,
    PathObject,
    SetObject,
    StandardObject,
    derived,
    is_constant,
    is_symbolic,
)


def as_text(machine: Machine, value: Object) -> str | None:
    """Return `str(value)`; None where it is not known."""
    value = machine.settle(value)
    if isinstance(value, Instance):
        return _own_text(machine, value)
    if isinstance(value, CONSTANTS):
        return str(value) if is_small(value) else None
    if type(value) is PathObject:
        return value.path
    if type(value) is StandardObject:
        return standard_objects.text(value)
    if isinstance(value, External) and value.name.startswith("torch."):
        return value.name
    if isinstance(value, tuple) and is_constant(value):
        return str(value)
    if (
        isinstance(value, ListObject)
        and value.items is not None
        and is_constant(tuple(value.items))
        and not isinstance(value, SetObject)
    ):
        return str(list(value.items))
    return None


def _own_text(machine: Machine, value: Instance) -> str | None:
    frame = Frame(value.cls.module) if isinstance(value.cls, ClassObject) else None
    if frame is None:
        return None
    found = called(machine, value, "__str__", None, frame)
    found = machine.settle(called(machine, value, "__repr__", None, frame) if found is MISSING else found)
    return found if isinstance(found, str) else None


def formatted(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Object:
    """Return the value of an f-string."""
    texts: list[str] = []
    values: list[Object] = []
    known = True
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        values.append(evaluate(machine, part.value, frame))
        text = _formatted_text(machine, part, machine.settle(values[-1]), frame)
        known = known and text is not None
        texts.append(HOLE if text is None else text)
    if sum(map(len, texts)) > LONGEST_TEXT:
        return machine.unknown("", not_none=True)
    return derived("".join(texts), *values) if known else _partly_known(machine, "".join(texts))


def _partly_known(machine: Machine, said: str) -> Object:
    machine.doubts += 1
    return PartlyKnown(machine.tick(), said)


def _formatted_text(machine: Machine, part: ast.FormattedValue, value: Object, frame: Frame) -> str | None:
    spec = ""
    if part.format_spec is not None:
        found = machine.settle(evaluate(machine, part.format_spec, frame))
        if not isinstance(found, str) or is_wide(found):
            return None
        spec = found
    if part.conversion in (ord("r"), ord("a")):
        spell = repr if part.conversion == ord("r") else ascii
        value = spell(value) if isinstance(value, CONSTANTS) and is_small(value) else None
    elif part.conversion == ord("s") or is_symbolic(value):
        value = as_text(machine, value)
    if part.conversion > 0 and (value is None or (spec and is_symbolic(value))):
        return None
    if spec and is_symbolic(value):
        return None
    if spec and isinstance(value, CONSTANTS):
        try:
            return format(value, spec)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__, str(error)) from None
    text = as_text(machine, value)
    return None if text is None or (spec and not isinstance(value, CONSTANTS)) else text
