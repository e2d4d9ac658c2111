"""Operators on values, and comparisons in three-valued logic: True, False, or a value that is not known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from mfsdp_lint.megatron.conditions import agreed
from mfsdp_lint.readers.python.eval import standard_objects
from mfsdp_lint.readers.python.eval.classes import (
    bits_of,
    combined,
    fields_of,
    has_fields,
    is_dataclass,
    lookup,
    mro,
    namespace,
    opaque,
)
from mfsdp_lint.readers.python.eval.containers import absorbed, absorbed_writes
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.path_objects import make_path
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join, negated, part_of_each, truth
from mfsdp_lint.readers.python.state.variables import copied_environment, holds, is_environment, is_set
from mfsdp_lint.readers.python.values.bounds import LONGEST_LIST, is_small, is_wide
from mfsdp_lint.readers.python.values.code import plain
from mfsdp_lint.readers.python.values.markers import (
    ABOUT,
    ALIKE,
    AMONG,
    EQUAL,
    MAY_HAVE_CHANGED,
    QUESTION,
    WHOLE,
)
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    PartlyKnown,
    PathObject,
    SetObject,
    StandardObject,
    Unknown,
    derived,
    is_constant,
    is_symbolic,
    obstacle_of,
)

BY_IDENTITY = (ClassObject, Function, External)
"""Kinds of keys that are equal to themselves alone."""
_KEYS = (*CONSTANTS, *BY_IDENTITY, tuple, EnumMember)

MEMBERSHIP = frozenset((ast.In, ast.NotIn))
_IDENTITY = frozenset((ast.Is, ast.IsNot))
_EQUALITY = frozenset((ast.Eq, ast.NotEq))
_OPPOSITE = frozenset((ast.IsNot, ast.NotEq, ast.NotIn))

ORDER = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_COMPARING = {ast.Eq: operator.eq, ast.NotEq: operator.eq, **ORDER}


def compare(interp: Interpreter, op: ast.cmpop, left: Object, right: Object, node: ast.AST, frame: Frame) -> Object:
    """Evaluate `left <op> right`: True, False, or an Unknown as the answer."""
    left, right, kind = interp.settle(left), interp.settle(right), type(op)
    if kind in MEMBERSHIP and is_environment(right):
        found = is_set(interp, left, frame)
        known = truth(interp, found)
        if known is None:
            return found if kind is ast.In else negated(interp, found)
        return derived(known is (kind is ast.In), found)
    answer, opposite = _answer(interp, kind, left, right, frame), kind in _OPPOSITE
    if answer is not None:
        return answer is not opposite
    if (choice := selection_beside(left, right)) is not None:
        each = [(one, right) if choice is left else (left, one) for one in choice.options]
        answers = [_answer(interp, kind, *sides, frame) for sides in each]
        if None not in answers:
            return part_of_each(interp, choice, [one is not opposite for one in answers])
    if type(left) is tuple and (part := _about_one_part(interp, kind, left, right, frame)) is not None:
        return compare(interp, op, *part, node, frame)
    subject, other = (right, left) if kind in _EQUALITY and isinstance(right, Unknown) else (left, right)
    if isinstance(subject, Unknown) and _is_ruled_out(interp, kind, subject, other, frame):
        return opposite
    return _question(interp, op, left, right, opposite, frame)


def _about_one_part(
    interp: Interpreter, kind: type[ast.cmpop], left: tuple[Object, ...], right: Object, frame: Frame
) -> tuple[Unknown, Object] | None:
    """Return what a question about a tuple asks of its only part that is not known; None where it is none."""
    places = [place for place, each in enumerate(left) if isinstance(each, Unknown)]
    items = (right,) if kind in _EQUALITY else _items(interp, right, frame) if kind in MEMBERSHIP else None
    if len(places) != 1 or items is None:
        return None
    (place,) = places
    asked = []
    for each in items:
        if type(each) is not tuple or len(each) != len(left) or not is_constant(each):
            return None
        alike = _equal_items(interp, (*each[:place], *each[place + 1 :]), (*left[:place], *left[place + 1 :]))
        if alike is None:
            return None
        if alike:
            asked.append(each[place])
    subject = left[place]
    assert isinstance(subject, Unknown)
    return None if not asked else (subject, asked[0] if kind in _EQUALITY else tuple(asked))


def _is_ruled_out(interp: Interpreter, kind: type[ast.cmpop], subject: Unknown, other: Object, frame: Frame) -> bool:
    """Tell whether what was decided on the path says that a value is not this text, or none of these."""
    if not interp.path.facts.fields or not subject.fields or kind in _IDENTITY or kind in ORDER:
        return False
    asked = _texts(interp, other if kind in MEMBERSHIP else (other,), frame)
    left = list(asked or ())
    for key, question in subject.fields.items() if left else ():
        if isinstance(key, tuple) and key[:2] in ((QUESTION, "Eq"), (QUESTION, "In")) and isinstance(question, Unknown):
            answer, equal_to = truth(interp, question), question.fields.get(EQUAL)
            among = question.fields.get(AMONG) if equal_to is None else equal_to[1:]
            if answer is not None and among is not None:
                left = [each for each in left if (each in among) is answer]
    return bool(asked) and not left


def _texts(interp: Interpreter, holder: Object, frame: Frame) -> tuple[Object, ...] | None:
    """Return the elements of a collection of texts; None where it holds anything else, or they are not known."""
    items = _items(interp, holder, frame)
    return items if items is not None and all(type(each) is str for each in items) and not is_symbolic(*items) else None


def _items(interp: Interpreter, holder: Object, frame: Frame) -> tuple[Object, ...] | None:
    if type(holder) not in (tuple, frozenset, ListObject, SetObject, DictObject):
        return None
    items = iterate(interp, holder, frame)
    return None if items is None else tuple(items)


def selection_beside(left: Object, right: Object) -> Choice | None:
    """Return the one of two operands that is a selection, where the other one is known."""
    choice, other = (left, right) if type(left) is Choice else (right, left)
    if type(choice) is not Choice or isinstance(other, (Choice, Unknown)):
        return None
    return choice if choice.is_selection and MISSING not in choice.options else None


def _answer(interp: Interpreter, kind: type[ast.cmpop], left: Object, right: Object, frame: Frame) -> bool | None:
    if kind in _IDENTITY:
        return same_object(left, right)
    if kind not in MEMBERSHIP and StandardObject in (type(left), type(right)):
        return standard_objects.compared(interp, _COMPARING[kind], left, right)
    if kind in _EQUALITY:
        return equal(interp, left, right)
    if kind in MEMBERSHIP:
        return contains(interp, right, left, frame)
    answer = _of_versions(ORDER[kind], left, right)
    if answer is None:
        answer = _ordered(ORDER[kind], _elements_settled(interp, left), _elements_settled(interp, right))
    return answer


def _question(interp: Interpreter, op: ast.cmpop, left: Object, right: Object, opposite: bool, frame: Frame) -> Object:
    """Return the unknown answer; the same question about the same unknown value has the same answer."""
    turned = isinstance(right, Unknown) and not isinstance(left, Unknown)
    if turned:
        left, right = right, left
    if not isinstance(left, Unknown):
        return Choice((True, False), is_selection=True)
    kind = {ast.IsNot: "Is", ast.NotEq: "Eq", ast.NotIn: "In"}.get(type(op), type(op).__name__)
    token = (type(right).__name__, right) if isinstance(right, CONSTANTS) else id(right)
    key = (QUESTION, kind, token)
    found: Object = left.fields.get(key, MISSING)
    if found is MISSING:
        found = interp.unknown("", not_none=True)
        found.obstacle = obstacle_of(left, right)
        if kind == "Eq" and isinstance(right, (bool, int, float)) and right in (0, 1):
            found.fields[ALIKE] = (left, bool(right))  # 1, 1.0 and True are equal, and not the same
        elif kind in ("Is", "Eq") and (
            right is None or isinstance(right, (str, bool, int, float, EnumMember, External))
        ):
            found.fields[EQUAL] = (left, right)
        elif kind == "In" and not turned and (among := _texts(interp, right, frame)) is not None:
            found.fields[AMONG] = among
        found.fields[ABOUT] = right  # kept, so that its number stays its own
        left.fields[key] = found
    if not opposite:
        return found
    return negated(interp, found)


def same_object(left: Object, right: Object) -> bool | None:
    if left is None or right is None:
        return is_none(right if left is None else left)
    if isinstance(left, (Unknown, Choice)) or isinstance(right, (Unknown, Choice)):
        # (No text, path or object of the standard library is True or False.)
        one, other = (left, right) if isinstance(right, bool) else (right, left)
        if isinstance(other, bool) and isinstance(one, (PathObject, PartlyKnown, StandardObject)):
            return False
        return _over_options(left, right, same_object)
    if isinstance(left, (bool, type(...))) or isinstance(right, (bool, type(...))):
        return left is right
    if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
        return (type(left) is type(right) and left == right) if isinstance(left, (str, int)) else None
    if isinstance(left, External) and isinstance(right, External):
        return True if left == right else None
    if isinstance(left, Bound) or isinstance(right, Bound):
        return None
    return left is right


def is_none(value: Object) -> bool | None:
    """Tell whether a value is None; None if that is not known."""
    if isinstance(value, Unknown):
        return False if value.not_none else None
    if isinstance(value, Choice):
        return agreed([is_none(option) for option in value.options])
    if isinstance(value, External):
        return False if value.name.partition(".")[0] in ("torch", "functools", "enum", "inspect") else None
    return value is None


def _over_options(left: Object, right: Object, ask: Any) -> bool | None:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return True if left is right else None
    lefts = left.options if isinstance(left, Choice) else (left,)
    rights = right.options if isinstance(right, Choice) else (right,)
    return agreed([ask(one, other) for one in lefts for other in rights])


def equal(interp: Interpreter, left: Object, right: Object) -> bool | None:
    """Evaluate `left == right`; None if that is not known."""
    if type(left) is str and type(right) is str:
        return left == right or (None if ("<" in left or "<" in right) and is_symbolic(left, right) else False)
    left, right = plain(interp.settle(left)), plain(interp.settle(right))
    if isinstance(left, (Unknown, Choice)) or isinstance(right, (Unknown, Choice)):
        if (left is None or right is None) and is_none(left if right is None else right) is False:
            return False
        return _over_options(left, right, lambda one, other: equal(interp, one, other))
    if isinstance(left, CONSTANTS) and isinstance(right, CONSTANTS):
        return bool(left == right) or (None if is_symbolic(left, right) else False)
    if isinstance(left, SetObject) or isinstance(right, SetObject):
        return _equal_sets(interp, left, right)
    if isinstance(left, ListObject) or isinstance(right, ListObject):
        if not (isinstance(left, ListObject) and isinstance(right, ListObject)):
            return None if isinstance(left, (Instance, External)) or isinstance(right, (Instance, External)) else False
        if left.items is None or right.items is None:
            return None
        return _equal_items(interp, tuple(left.items), tuple(right.items))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _equal_items(interp, left, right)
    if isinstance(left, DictObject) and isinstance(right, DictObject):
        if left.writes.get(MAY_HAVE_CHANGED) or right.writes.get(MAY_HAVE_CHANGED):
            return None
        if left.fields.keys() != right.fields.keys():
            return False
        return _equal_items(interp, tuple(left.fields.values()), tuple(right.fields[key] for key in left.fields))
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        return left is right
    if isinstance(left, External) or isinstance(right, External):
        return _equal_externals(left, right)
    if isinstance(left, (Instance, EnumMember)) or isinstance(right, (Instance, EnumMember)):
        return _equal_objects(interp, left, right)
    return left is right if type(left) is type(right) else False


_OWNERS_OF_CONSTANTS = ({"torch"}, {"inspect.Parameter"})
"""Owners of several names for constants that all differ."""


def _equal_externals(left: Object, right: Object) -> bool | None:
    if left == right:
        return True
    if isinstance(left, External) and isinstance(right, External):
        owners = {each.name.rpartition(".")[0] for each in (left, right)}
        return False if owners in _OWNERS_OF_CONSTANTS else None
    external, other = (left, right) if isinstance(left, External) else (right, left)
    known = isinstance(external, External) and external.name.startswith(("torch.", "inspect.Parameter."))
    return False if known and isinstance(other, CONSTANTS) else None


def _equal_objects(interp: Interpreter, left: Object, right: Object) -> bool | None:
    if left is right:
        return True
    if isinstance(left, Instance) and isinstance(right, Instance) and left.cls is right.cls:
        names = _compared_fields(interp, left.cls)
        if names is None or not all(name in side.fields for side in (left, right) for name in names):
            return None
        return _equal_items(interp, tuple(left.fields[n] for n in names), tuple(right.fields[n] for n in names))
    if isinstance(left, CONSTANTS) or isinstance(right, CONSTANTS):
        instance = left if isinstance(left, (Instance, EnumMember)) else right
        cls = instance.cls if isinstance(instance, (Instance, EnumMember)) else None
        if isinstance(cls, ClassObject) and lookup(interp, cls, "__eq__")[0] is MISSING:
            return False
    return None


def _compared_fields(interp: Interpreter, cls: Object) -> list[str] | None:
    """List the fields by which the generated `__eq__` of a dataclass of the program compares; None if not sure."""
    if not isinstance(cls, ClassObject) or not has_fields(interp, cls) or opaque(interp, cls):
        return None
    if lookup(interp, cls, "__eq__")[0] is not MISSING or not is_dataclass(interp, cls):
        return None
    for base in mro(interp, cls):
        if not isinstance(base, ClassObject) or base.node is None:
            return None if isinstance(base, ClassObject) else [spec.name for spec in fields_of(interp, cls)]
        options = [
            keyword.arg for one in base.node.decorator_list if isinstance(one, ast.Call) for keyword in one.keywords
        ]
        given = [value for value in namespace(interp, base).values() if isinstance(value, Partial)]
        if "eq" in options or any("compare" in value.keywords for value in given):
            return None
    return [spec.name for spec in fields_of(interp, cls)]


def ordering_key(interp: Interpreter, value: Object) -> Object:
    """Return the tuple by which an object of a dataclass with `order=True` is compared; any other value as it is."""
    cls = value.cls if isinstance(value, Instance) else None
    if not isinstance(value, Instance) or not isinstance(cls, ClassObject) or cls.node is None:
        return value
    said = [keyword for one in cls.node.decorator_list if isinstance(one, ast.Call) for keyword in one.keywords]
    is_ordered = any(each.arg == "order" and getattr(each.value, "value", False) is True for each in said)
    names = _compared_fields(interp, cls) if is_ordered and lookup(interp, cls, "__lt__")[0] is MISSING else None
    if names is None or not all(name in value.fields for name in names):
        return value
    return tuple(interp.settle(ordering_key(interp, value.fields[name])) for name in names)


def _equal_items(interp: Interpreter, left: tuple[Object, ...], right: tuple[Object, ...]) -> bool | None:
    if len(left) != len(right):
        return False
    interp.charge(len(left) * 8)
    interp.step()
    answers = [equal(interp, one, other) for one, other in zip(left, right, strict=True)]
    return False if False in answers else None if None in answers else True


def _equal_sets(interp: Interpreter, left: Object, right: Object) -> bool | None:
    if not (isinstance(left, (SetObject, frozenset)) and isinstance(right, (SetObject, frozenset))):
        return (
            False
            if isinstance(left, (*CONSTANTS, tuple, ListObject)) or isinstance(right, (*CONSTANTS, tuple, ListObject))
            else None
        )
    lefts = left.items if isinstance(left, SetObject) else list(left)
    rights = right.items if isinstance(right, SetObject) else list(right)
    if lefts is None or rights is None or not all(isinstance(item, (*CONSTANTS, tuple)) for item in [*lefts, *rights]):
        return None
    return set(lefts) == set(rights)


def _elements(value: SetObject | frozenset[Object]) -> frozenset[Object] | None:
    items = value.items if isinstance(value, SetObject) else value
    return frozenset(items) if items is not None and is_constant(tuple(items)) else None


def contains(interp: Interpreter, holder: Object, item: Object, frame: Frame) -> bool | None:
    """Evaluate `item in holder`; None if that is not known."""
    holder, item = interp.settle(holder), plain(interp.settle(item))
    if type(holder) is Unknown and holds(holder, item):
        return True
    if type(holder) is StandardObject:
        return standard_objects.has(interp, holder, item)
    if type(holder) is ConfigTree and holder.fields.get(WHOLE) is True and isinstance(item, str):
        found = holder.fields.get(item, MISSING)
        return None if isinstance(found, Unknown) and not isinstance(found, ConfigTree) else found is not MISSING
    if isinstance(holder, EnumMember) and isinstance(item, EnumMember) and holder.cls is item.cls:
        numbers = bits_of(interp, holder), bits_of(interp, item)
        return None if numbers[0] is None or numbers[1] is None else numbers[0] & numbers[1] == numbers[1]
    if isinstance(holder, Choice):
        return agreed([contains(interp, option, item, frame) for option in holder.options])
    if isinstance(holder, (str, bytes)):
        if isinstance(item, Choice):
            return agreed([contains(interp, holder, option, frame) for option in item.options])
        if isinstance(item, Unknown) or not isinstance(item, CONSTANTS) or is_symbolic(holder, item):
            return None
        try:
            return bool(item in holder)  # type: ignore[operator]  # what does not fit raises, as it does in Python
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
    if isinstance(holder, DictObject):
        if isinstance(item, (Instance, DictObject, ListObject)) and holder.fields:
            return None  # by its own `__eq__`, perhaps
        if isinstance(item, _KEYS) and item in holder.fields:
            found = holder.fields[item]
            gone = isinstance(found, Unknown) and holder.writes.get(MAY_HAVE_CHANGED)
            return None if gone or (isinstance(found, Choice) and MISSING in found.options) else True
        if holder.writes.get(MAY_HAVE_CHANGED) or isinstance(item, (Unknown, Choice)):
            return None
        # A tuple may hold what is not known.
        answers = [equal(interp, key, item) for key in holder.fields] if isinstance(item, tuple) else []
        return None if None in answers else False
    if isinstance(holder, (int, float, type(None))):
        raise Raised("TypeError", "argument is not iterable")
    items = iterate(interp, holder, frame)
    if items is None:
        return None
    interp.charge(len(items) * 32)
    answers = [True if one is item else equal(interp, one, item) for one in items]
    return True if True in answers else None if None in answers else False


def _elements_settled(interp: Interpreter, value: Object) -> Object:
    return tuple(map(interp.settle, value)) if type(value) is tuple else value


_OLDEST = (3, 10)
"""The oldest Python that a release of Megatron-Bridge or megatron-core runs on (pyproject.toml, 0.2.0 and 0.16.1)."""


def _of_versions(ask: Any, left: Object, right: Object) -> bool | None:
    """Compare the version of Python with an older one, which no release runs on; None where that is not known."""
    if not isinstance(left, External) or left.name != "sys.version_info":
        return None
    if not isinstance(right, tuple) or not all(type(n) is int for n in right):
        return None
    # (Of the oldest one itself all or the first two parts may be compared.)
    is_older = right < _OLDEST or (right == _OLDEST and ask in (operator.lt, operator.ge))
    return bool(ask(_OLDEST, right)) if is_older else None


def _ordered(ask: Any, left: Object, right: Object) -> bool | None:
    if isinstance(left, Choice) or isinstance(right, Choice):
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return None
        return _over_options(left, right, lambda one, other: _ordered(ask, one, other))
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if isinstance(left, (SetObject, frozenset)) and isinstance(right, (SetObject, frozenset)):
        left, right = _elements(left), _elements(right)
        if left is None or right is None:
            return None
    elif isinstance(left, SetObject) or isinstance(right, SetObject):
        return None
    elif isinstance(left, ListObject) and isinstance(right, ListObject):
        left, right = left.items, right.items
        if left is None or right is None:
            return None
    if isinstance(left, EnumMember) or isinstance(right, EnumMember):
        return None
    if isinstance(left, tuple) and isinstance(right, tuple) and not (is_constant(left) and is_constant(right)):
        left, right = _deciding(left, right)
    if any(isinstance(side, tuple) and not is_constant(side) for side in (left, right)):
        return None
    if is_symbolic(left, right):
        return None
    try:
        answer = ask(left, right)
    except TypeError as error:
        if isinstance(left, (*CONSTANTS, tuple)) and isinstance(right, (*CONSTANTS, tuple)):
            raise Raised("TypeError", str(error)) from None
        return None
    return answer if isinstance(answer, bool) else None


def _deciding(left: tuple[Object, ...], right: tuple[Object, ...]) -> tuple[Any, Any]:
    """Return the first constants in which two tuples differ and which decide their order; the tuples if not sure."""
    for one, other in zip(left, right, strict=False):
        if not is_constant(one) or not is_constant(other) or is_symbolic(one, other):
            break
        if one != other:
            return one, other
    return left, right


BIG = 1_000_000
"""Numbers and sequences larger than this are not computed."""

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}


def binary(interp: Interpreter, kind: type, left: Object, right: Object) -> Object:
    """Evaluate `left <operator> right`."""
    left, right = plain(interp.settle(left)), plain(interp.settle(right))
    flags = combined(interp, kind, left, right)
    if flags is not None:
        return flags
    if isinstance(left, Choice) or isinstance(right, Choice):
        return _binary_over(interp, kind, left, right)
    if StandardObject in (type(left), type(right)):
        return standard_objects.operated(interp, kind, left, right)
    is_path = not {PathObject, PartlyKnown}.isdisjoint((type(left), type(right)))
    # (Only a path is divided by a text.)
    if kind is ast.Div and (is_path or (type(left) is Unknown and isinstance(right, str))):
        return make_path(interp, [left, right])
    if isinstance(left, ListObject) and not isinstance(left, SetObject):
        return _list_operation(interp, kind, left, right)
    if (
        isinstance(right, ListObject)
        and kind is ast.Mult
        and isinstance(left, int)
        and not isinstance(right, SetObject)
    ):
        return _list_operation(interp, kind, right, left)
    if isinstance(left, SetObject) and isinstance(right, SetObject):
        return _set_operation(interp, kind, left, right)
    if kind is ast.BitOr and (is_environment(left) or is_environment(right)):
        left, right = (copied_environment(interp) if is_environment(each) else each for each in (left, right))
    if isinstance(left, DictObject) and isinstance(right, DictObject) and kind is ast.BitOr:
        merged = DictObject(absorbed(interp, left.fields, right), interp.tick())
        merged.writes = absorbed_writes(left, right)
        return merged
    if kind is ast.Add and PartlyKnown in (type(left), type(right)):
        texts = [each.said if isinstance(each, PartlyKnown) else each for each in (left, right)]
        if isinstance(texts[0], str) and isinstance(texts[1], str) and len(texts[0]) + len(texts[1]) <= BIG:
            return PartlyKnown(interp.tick(), texts[0] + texts[1])
    if isinstance(left, (*CONSTANTS, tuple)) and isinstance(right, (*CONSTANTS, tuple)):
        if too_big(kind, left, right):
            return interp.unknown("", not_none=True)
        if kind is ast.Mod and isinstance(left, (str, bytes)) and not _all_constant(right):
            return interp.unknown("", not_none=True)
        try:
            found = BINARY[kind](left, right)
        except (TypeError, ValueError, ArithmeticError, KeyError, MemoryError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        if kind is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
            interp.tell_joined(found, left, right)
        return found if is_small(found) else interp.unknown("", not_none=True)
    return interp.unknown("", not_none=True)


def _all_constant(value: Any) -> bool:
    return all(map(_all_constant, value)) if isinstance(value, tuple) else isinstance(value, CONSTANTS)


def too_big(kind: type, left: Any, right: Any) -> bool:
    if kind is ast.Pow:
        return isinstance(left, int) and isinstance(right, int) and (abs(left) > BIG or abs(right) > 256)
    if kind is ast.LShift:
        return isinstance(right, int) and right > 256
    if kind is ast.Mult:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, bytes, tuple)) and isinstance(other, int) and len(one) * other > BIG:
                return True
        return isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > 4096
    if kind is ast.Add and isinstance(left, (str, bytes, tuple)) and isinstance(right, (str, bytes, tuple)):
        return len(left) + len(right) > BIG
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        longest = max(map(_length, right), default=0) if isinstance(right, tuple) else _length(right)
        return len(left) > 10_000 or len(left) * longest > BIG or is_wide(str(left))
    return False


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes)) else 0


def _list_operation(interp: Interpreter, kind: type, left: ListObject, right: Object) -> Object:
    if kind is ast.Add and isinstance(right, ListObject):
        known = left.items is not None and right.items is not None
        both = left.items + right.items if known and len(left.items) + len(right.items) <= LONGEST_LIST else None
        if both:
            interp.tell_joined(both, left.items or (), right.items or ())
        return ListObject(both, interp.tick())
    if kind is ast.Mult and isinstance(right, int):
        if left.items is None or len(left.items) * right > LONGEST_LIST:
            return ListObject(None, interp.tick())
        return ListObject(left.items * right, interp.tick())
    if isinstance(right, (*CONSTANTS, tuple)):
        raise Raised("TypeError", "unsupported operand types")
    return interp.unknown("", not_none=True)


def _set_operation(interp: Interpreter, kind: type, left: SetObject, right: SetObject) -> Object:
    if left.items is None or right.items is None:
        return interp.unknown("", not_none=True)
    interp.charge(4 * (len(left.items) + len(right.items)))
    try:
        one, other = dict.fromkeys(left.items), dict.fromkeys(right.items)
    except TypeError:
        return interp.unknown("", not_none=True)
    if kind is ast.BitOr:
        found = [*one, *(item for item in other if item not in one)]
    elif kind is ast.BitAnd:
        found = [item for item in one if item in other]
    elif kind is ast.Sub:
        found = [item for item in one if item not in other]
    elif kind is ast.BitXor:
        found = [*(item for item in one if item not in other), *(item for item in other if item not in one)]
    else:
        raise Raised("TypeError", "unsupported operand types")
    return SetObject(found, interp.tick())


def _binary_over(interp: Interpreter, kind: type, left: Object, right: Object) -> Object:
    lefts = left.options if isinstance(left, Choice) else (left,)
    rights = right.options if isinstance(right, Choice) else (right,)
    if len(lefts) * len(rights) > 64:
        return interp.unknown("", not_none=True)
    found: list[Object] = []
    for one in lefts:
        for other in rights:
            try:
                found.append(binary(interp, kind, one, other))
            except Raised:
                interp.doubts += 1
                found.append(MISSING)
    if all(each is MISSING for each in found):
        raise Raised("TypeError", "unsupported operand types")
    if (choice := selection_beside(left, right)) is not None:
        return part_of_each(interp, choice, found)
    return join(interp, [each for each in found if each is not MISSING])


def sign(interp: Interpreter, op: ast.unaryop, value: Object) -> Object:
    if not isinstance(value, (int, float, complex)):
        if isinstance(value, (str, bytes, tuple, type(None))):
            raise Raised("TypeError", "bad operand type for unary operator")
        return interp.unknown("", not_none=True)
    try:
        return -value if isinstance(op, ast.USub) else +value if isinstance(op, ast.UAdd) else ~value  # type: ignore[operator]  # `~1.5` raises
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
