"""Iteration over a value, its text, and special methods of a program's own classes for operators, loops and tests."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.classes import (
    bits_of,
    is_enum,
    listed_members,
    mro,
    opaque,
    single_flags,
    special,
)
from mfsdp_lint.readers.python.state.calling import GeneratorCall, invoke
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.bounds import LONGEST_TEXT, is_small
from mfsdp_lint.readers.python.values.code import Call, base_name
from mfsdp_lint.readers.python.values.markers import IN_SOME_ORDER, MAY_HAVE_CHANGED, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    EnumMember,
    External,
    Frame,
    Instance,
    IteratorObject,
    ListObject,
    Native,
    Object,
    PartlyKnown,
    PathObject,
    SetObject,
    StandardObject,
    Unknown,
    derived,
    is_constant,
    is_symbolic,
    uncertain,
)

ARITHMETIC = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitOr": "or", "BitXor": "xor", "BitAnd": "and", "MatMult": "matmul",
}  # fmt: skip
"""The operators' names in those of the special methods."""

ORDER = {"Lt": ("lt", "gt"), "LtE": ("le", "ge"), "Gt": ("gt", "lt"), "GtE": ("ge", "le"), "Eq": ("eq", "eq")}
"""Those of comparisons, and what the right side is asked where the left one has no answer."""

NOT_IMPLEMENTED = External("NotImplemented")


def has_hidden(interp: Interpreter, value: Object) -> bool:
    """Tell whether an object may have special methods that are out of sight."""
    return isinstance(value, Instance) and (not isinstance(value.cls, ClassObject) or opaque(interp, value.cls))


def has_methods(value: Object) -> bool:
    """Tell whether a value is an object of a class of the program's own, which may define special methods."""
    return isinstance(value, (Instance, EnumMember)) or (isinstance(value, DictObject) and value.cls is not None)


def operated(
    interp: Interpreter, kind: type, left: Object, right: Object, node: Any, frame: Frame, *, in_place: bool = False
) -> Object:
    """Evaluate `left <operator> right` by the special methods of either; MISSING where neither has one."""
    name = ARITHMETIC.get(kind.__name__, "")
    asked = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    if in_place:
        asked.insert(0, (left, f"__i{name}__", right))
    return _first(interp, asked, node, frame)


def ordered(interp: Interpreter, kind: type, left: Object, right: Object, node: Any, frame: Frame) -> Object:
    """Evaluate `left < right` and the like by the special methods of either; MISSING where neither has one."""
    if kind.__name__ not in ORDER:
        return MISSING
    name, mirrored = ORDER[kind.__name__]
    return _first(interp, [(left, f"__{name}__", right), (right, f"__{mirrored}__", left)], node, frame)


def _first(interp: Interpreter, asked: list[tuple[Object, str, Object]], node: Any, frame: Frame) -> Object:
    for owner, name, other in asked:
        method = special(interp, owner, name)
        if method is None:
            if has_hidden(interp, owner):
                # Some class out of sight may define it, and change the object.
                forget_reachable(interp, owner)
                return interp.unknown("", not_none=True)
            continue
        found = invoke(interp, method, Call([owner, other], {}, node, frame))
        if found != NOT_IMPLEMENTED:
            return found
    return MISSING


def called(interp: Interpreter, value: Object, name: str, node: Any, frame: Frame) -> Object:
    """Return the result of a special method without arguments; MISSING where the program does not define it."""
    method = special(interp, value, name)
    return MISSING if method is None else invoke(interp, method, Call([value], {}, node, frame))


LONGEST = 10_000
"""Sequences longer than this are not walked."""


def iterate(interp: Interpreter, value: Object, frame: Frame) -> list[Object] | None:
    """List the elements of an iterable in order; None if they are not known. Raises Raised if it is not iterable."""
    items = elements(interp, value, frame)
    return None if items is not None and any(map(uncertain, items)) else items


def elements(interp: Interpreter, value: Object, frame: Frame) -> list[Object] | None:
    """List the elements as `iterate` does, including those that may be missing."""
    value = interp.settle(value)
    if isinstance(value, ListObject):
        items: list[Object] | None = value.items
        interp.charge(len(items or ()))
        if isinstance(value, IteratorObject):
            interp.put(value, "items", None if items is None or value.is_stale else [])
            if value.is_stale:
                return None
            if value.error is not None:
                raise value.error
        return items
    if isinstance(value, (tuple, frozenset)):
        return list(value)
    if isinstance(value, DictObject):
        interp.charge(len(value.fields))
        if value.writes.get(MAY_HAVE_CHANGED) or any(
            isinstance(item, Choice) and MISSING in item.options for item in value.fields.values()
        ):
            return None
        return list(value.fields)
    if isinstance(value, (str, bytes, range)):
        if is_symbolic(value):
            return None
        return list(value) if len(value) <= LONGEST else None
    if type(value) is ConfigTree and value.fields.get(WHOLE) is True:
        return [key for key in value.fields if isinstance(key, str)]
    if isinstance(value, Unknown) and IN_SOME_ORDER in value.fields:
        return list(value.fields[IN_SOME_ORDER])
    if isinstance(value, Unknown) and isinstance(lines := value.fields.get("readlines"), Native):
        return elements(interp, invoke(interp, lines, Call([], {}, None, frame)), frame)
    if type(value) is StandardObject:
        return standard_objects.items(interp, value)
    if isinstance(value, GeneratorCall):
        # A list of the program's, so that what a branch that is not decided yields is undone and joined with the rest.
        found = ListObject([], interp.tick())

        def collect(item: Object) -> Object:
            interp.step()
            items = found.items
            interp.charge(len(items or ()))
            interp.put(found, "items", None if items is None or len(items) >= LONGEST else [*items, item])
            return None

        if value.state == "open":
            forget_rest(interp, value)
            return None
        value.run(collect)
        collected: list[Object] | None = found.items
        return collected
    if isinstance(value, ClassObject) and is_enum(interp, value):
        listed = listed_members(interp, value)
        return None if listed is None else [*listed]
    if isinstance(value, EnumMember) and (bits := bits_of(interp, value)) is not None:
        return [each for each in single_flags(interp, value.cls) or () if (bits_of(interp, each) or 0) & bits]
    if isinstance(value, Instance):
        return _elements_of_object(interp, value, frame)
    if isinstance(value, (int, float, complex, type(None))):
        raise Raised("TypeError", f"'{type(value).__name__}' object is not iterable")
    return None


def walked(interp: Interpreter, value: Object, frame: Frame) -> Object:
    """Return `iter(value)` where the class of an object defines it; else the value itself."""
    return value if (found := called(interp, value, "__iter__", None, frame)) is MISSING else interp.settle(found)


def _elements_of_object(interp: Interpreter, value: Instance, frame: Frame) -> list[Object] | None:
    found = walked(interp, value, frame)
    if found is not value:
        return elements(interp, found, frame)
    if special(interp, value, "__next__") is None:
        return None
    collected: list[Object] = []
    while len(collected) < LONGEST:
        interp.step()
        try:
            collected.append(called(interp, value, "__next__", None, frame))
        except Raised as error:
            if error.name != "StopIteration":
                raise
            return collected
    return None


def forget_rest(interp: Interpreter, generator: GeneratorCall) -> None:
    """Forget all that a generator left open can reach: its rest runs now, and may change it."""
    forget_reachable(interp, generator.frame.code)
    here: Frame | None = generator.frame
    while here is not None and here.fields is not here.module.fields:
        for value in list(here.fields.values()):
            forget_reachable(interp, value)
        # What stands in a function's own lines, and not in a function of its own, reaches all names there.
        here = here.enclosing if generator.frame.code is None else None


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


def known_part(interp: Interpreter, value: Object) -> str | None:
    """Return the text of a value within another text, a HOLE for what is not known of it; None where nothing is."""
    value = interp.settle(value)
    return value.said if isinstance(value, PartlyKnown) else as_text(interp, value)


def text_of_parts(interp: Interpreter, texts: list[str | None], values: list[Object]) -> Object:
    """Return a text that is put together, some of it from values; None stands for a part that is not known."""
    said = "".join(HOLE if each is None else each for each in texts)
    if len(said) > LONGEST_TEXT:
        return interp.unknown("", not_none=True)
    if HOLE not in said:
        return derived(said, *values)
    interp.doubts += 1
    return PartlyKnown(interp.tick(), said)
