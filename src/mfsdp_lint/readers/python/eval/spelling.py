"""Texts of values: `str(value)`, and texts that are put together from values."""

from __future__ import annotations

from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.classes import mro
from mfsdp_lint.readers.python.eval.iteration import called, special
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import ClassObject, Frame, base_name
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    LONGEST_TEXT,
    MISSING,
    EnumMember,
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
    is_small,
)


def as_text(interp: Interpreter, value: Object) -> str | None:
    """Return `str(value)`; None where it is not known."""
    value = interp.settle(value)
    if isinstance(value, Instance):
        if not isinstance(value.cls, ClassObject):
            return None
        frame = Frame(value.cls.module)
        found = called(interp, value, "__str__", None, frame)
        found = interp.settle(called(interp, value, "__repr__", None, frame) if found is MISSING else found)
        return found if isinstance(found, str) else None
    if isinstance(value, EnumMember):
        if special(interp, value, "__str__") is not None:
            found = interp.settle(called(interp, value, "__str__", None, Frame(value.cls.module)))
            return found if isinstance(found, str) else None
        kinds = {base_name(base) for base in mro(interp, value.cls) if not isinstance(base, ClassObject)}
        if "enum.StrEnum" in kinds:
            return value.value if isinstance(value.value, str) else None
        return f"{value.cls.name}.{value.name}" if kinds <= {"enum.Enum", "object"} else None
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


def text_of_parts(interp: Interpreter, texts: list[str | None], values: list[Object]) -> Object:
    """Return a text that is put together, some of it from values; None stands for a part that is not known."""
    said = "".join(HOLE if each is None else each for each in texts)
    if len(said) > LONGEST_TEXT:
        return interp.unknown("", not_none=True)
    if None not in texts:
        return derived(said, *values)
    interp.doubts += 1
    return PartlyKnown(interp.tick(), said)
