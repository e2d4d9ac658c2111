"""Objects of Python's standard library that are known: Python itself answers for them.

A function or method of the library that depends on its arguments alone is called on the real values. Arguments that are
not known, large or symbolic make the result unknown; so does a result of a type that is not listed here. Nothing of the
program that is read runs: only types of the standard library are ever called.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.state.calling import BUILTINS, LIBRARY, Model
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import part_of_each
from mfsdp_lint.readers.python.values.bounds import is_small
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import HELD, MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    External,
    ListObject,
    Native,
    Object,
    Partial,
    StandardObject,
    Unknown,
    is_constant,
    is_symbolic,
)

LARGEST = 20_000
"""Characters, bytes and items of all arguments together."""
LARGEST_FACTOR = 2_000
"""The limit for a function whose result may be as large as one argument times another."""
MOST_ITEMS = 10_000
"""Items of a result."""
MOST_DIGITS = 1_000
"""Digits of a decimal number, and places to round to: as an integer it has them all."""
MOST_GROWN = 10_000_000
"""Characters that a value of a parser may grow to by interpolation."""

PARSERS = ("configparser.ConfigParser", "configparser.RawConfigParser")
_OF_PARSERS = (
    "__contains__ __getitem__ __iter__ add_section defaults get getboolean getfloat getint has_option "
    "has_section items options read_dict read_string remove_option remove_section sections set"
)

_OF_HASHES = "block_size copy digest digest_size hexdigest name update"
HASHES = ("_hashlib.HASH", "_blake2.blake2b", "_blake2.blake2s")

ANSWERS: Mapping[str, frozenset[str]] = {
    name: frozenset(members.split())
    for name, members in {
        "_regex.Pattern": "flags groupindex groups pattern",
        "_regex.Match": (
            "__getitem__ end expand group groupdict groups lastgroup lastindex re span start string regs pos endpos"
        ),
        **dict.fromkeys(HASHES, _OF_HASHES),
        "string.Template": "safe_substitute substitute template",
        "datetime.date": (
            "__add__ __sub__ ctime day isocalendar isoformat isoweekday month replace strftime toordinal weekday year"
        ),
        "datetime.datetime": (
            "__add__ __sub__ ctime date day hour isocalendar isoformat isoweekday microsecond minute month "
            "replace second strftime time timetz toordinal tzinfo utcoffset weekday year"
        ),
        "datetime.IsoCalendarDate": "__getitem__ __iter__ week weekday year",
        "datetime.time": "hour isoformat microsecond minute replace second strftime tzinfo",
        "datetime.timedelta": (
            "__add__ __floordiv__ __mod__ __mul__ __rmul__ __sub__ __truediv__ days microseconds seconds total_seconds"
        ),
        "datetime.timezone": "utcoffset",
        # (The rest of it depends on a context, which the program may change.)
        "decimal.Decimal": "copy_abs copy_negate is_finite is_infinite is_nan is_signed is_zero",
        "urllib.parse.DefragResult": "__getitem__ __iter__ fragment geturl url",
        "urllib.parse.ParseResult": (
            "__getitem__ __iter__ _replace fragment geturl hostname netloc params password path port query scheme "
            "username"
        ),
        "urllib.parse.SplitResult": (
            "__getitem__ __iter__ _replace fragment geturl hostname netloc password path port query scheme username"
        ),
        "packaging.version.Version": (
            "base_version dev epoch is_devrelease is_postrelease is_prerelease local major micro minor post pre public "
            "release"
        ),
        **dict.fromkeys(PARSERS, _OF_PARSERS),
        "configparser.SectionProxy": "__contains__ __getitem__ __iter__ get getboolean getfloat getint items keys name",
        "configparser.BasicInterpolation": "",
        "configparser.ExtendedInterpolation": "",
    }.items()
}
"""The attributes and methods that may be asked for, by the type of the object."""

MULTIPLYING = frozenset(("expand", "safe_substitute", "substitute"))
"""Methods whose result may be as large as one argument times another."""

CHANGING = frozenset(("add_section", "read_dict", "read_string", "remove_option", "remove_section", "set", "update"))
"""Methods that change their object."""

_OPERATORS: Mapping[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
}


class NotKnown(ValueError):
    """A value that cannot be put to the standard library, or that it cannot give back."""


def answer(
    interp: Interpreter,
    function: Callable[..., Any],
    arguments: list[Object],
    keywords: dict[str, Object],
    largest: int = LARGEST,
) -> Object:
    """Call a function of the standard library on known values, of `largest` characters and items at most.

    Raises Raised where the function raises, TimeoutError where it took too long, and NotKnown where an argument is not
    known: the call is not followed then, because what is given may be called or changed.
    """
    arguments = [interp.settle(argument) for argument in arguments]
    for index, argument in enumerate(arguments):
        if isinstance(argument, Choice) and MISSING not in argument.options:
            answers = [
                answer(interp, function, [*arguments[:index], option, *arguments[index + 1 :]], keywords, largest)
                for option in argument.options
            ]
            return part_of_each(interp, argument, answers)
    given = _Given(interp, largest)
    positional = [given.real(argument) for argument in arguments]
    named = {name: given.real(value) for name, value in keywords.items()}
    found = None
    try:
        found = _called(function, positional, named)
        return _modelled(interp, found)
    except NotKnown:
        return interp.unknown("", not_none=found is not None)


def hold(interp: Interpreter, value: Any) -> StandardObject:
    """Hold a fresh object of the standard library; one that methods change where changes are journaled."""
    made = StandardObject(interp.tick())
    if _kind(value) in (*PARSERS, *HASHES):
        made.fields[HELD] = _checked(value)
    else:
        made.held = value
    return made


def held(value: StandardObject) -> Any:
    """Return the real object that a value holds. Raises NotKnown where it was lost."""
    if value.part_of is not None:
        whole, key = value.part_of
        parent = held(whole)
        if key not in parent:
            raise NotKnown
        return parent[key]
    found = value.held if value.held is not None else value.fields.get(HELD)
    if _kind(found) not in ANSWERS:
        raise NotKnown
    return found


def attribute(interp: Interpreter, value: StandardObject, name: str) -> Object:
    """Read an attribute of a held object; MISSING where nothing is known of that."""
    try:
        owner = held(value)
    except NotKnown:
        return Native(name, _not_followed)
    if not hasattr(type(owner), name) and not hasattr(owner, name):
        raise Raised("AttributeError", f"{type(owner).__name__!r} object has no attribute {name!r}")
    dotted = f"{_kind(owner)}.{name}"
    modelled = LIBRARY.get(dotted)
    if modelled is not None:
        return Partial(Native(name, modelled), [value], {})
    if name not in ANSWERS[_kind(owner)]:
        return MISSING
    found = _called(getattr, [owner, name], {})
    if not callable(found):
        try:
            return _modelled(interp, found)
        except NotKnown:
            return MISSING
    return Native(dotted, _method(value, name))


def _not_followed(interp: Interpreter, call: Call) -> Object:
    """Be the method of a parser that was given what is not known."""
    raise NotKnown


def _method(value: StandardObject, name: str) -> Model:
    def method(interp: Interpreter, call: Call) -> Object:
        owner = held(value)
        if name not in CHANGING:
            largest = LARGEST_FACTOR if name in MULTIPLYING else LARGEST
            return answer(interp, getattr(owner, name), call.arguments, call.keywords, largest)
        return changed(interp, value, lambda copy: answer(interp, getattr(copy, name), call.arguments, call.keywords))

    return method


def changed(interp: Interpreter, value: StandardObject, change: Callable[[Any], Object]) -> Object:
    """Change a held object. A copy is changed, so that a branch that is undone has the former one again."""
    from copy import deepcopy

    try:
        former = held(value)
        copy = former.copy() if _kind(former) in HASHES else deepcopy(former)
        found = change(copy)
        interp.put(value, HELD, _checked(copy))
    except NotKnown:
        found = interp.unknown()
    if isinstance(found, Unknown):
        lose(interp, value)
    return found


def write(interp: Interpreter, value: StandardObject, name: str, given: Object) -> None:
    """Write an attribute of a held object. Only `parser.optionxform = str` is followed: it keeps the case of names."""

    def change(copy: Any) -> Object:
        if name != "optionxform" or given is not BUILTINS.get("str"):
            raise NotKnown
        copy.optionxform = str
        return None

    changed(interp, value, change)


def lose(interp: Interpreter, value: StandardObject) -> None:
    """Take it that nothing is known any more of an object that can be changed."""
    if HELD in value.fields:
        interp.drop(value, HELD)


def _checked(parser: Any) -> Any:
    """Return a parser whose values cannot grow much by interpolation. Raises NotKnown for others."""
    if _kind(parser) in HASHES:
        return parser
    values = [text for section in parser.values() for _, text in parser.items(section.name, raw=True)]
    references = max((text.count("%(") + text.count("${") for text in values if text), default=0)
    if references > 1 and references**_DEEPEST * max(map(len, filter(None, values))) > MOST_GROWN:
        raise NotKnown
    return parser


_DEEPEST = 10
"""Interpolations within interpolations (CPython, configparser.MAX_INTERPOLATION_DEPTH)."""


def item(interp: Interpreter, value: StandardObject, key: Object) -> Object:
    """Read `value[key]`. A section of a parser stays a part of it: it has what the parser is given later."""
    key = interp.settle(key)
    with suppress(NotKnown):
        if _kind(held(value)) in PARSERS and isinstance(key, str):
            if key not in held(value):
                raise Raised("KeyError", key)
            return StandardObject(interp.tick(), part_of=(value, key))
    return _ask(interp, value, "__getitem__", key)


def has(interp: Interpreter, value: StandardObject, key: Object) -> bool | None:
    """Tell whether `key in value`; None where that is not known."""
    found = _ask(interp, value, "__contains__", key)
    return found if isinstance(found, bool) else None


def items(interp: Interpreter, value: StandardObject) -> list[Object] | None:
    """List what iterating over a held object gives; None where that is not known."""
    try:
        owner = held(value)
        if "__iter__" not in ANSWERS[_kind(owner)]:
            return None
        return [_modelled(interp, each) for each in _bounded(iter(owner))]
    except NotKnown:
        return None


def mapping(interp: Interpreter, value: StandardObject) -> DictObject | None:
    """Copy a section of a parser into a dictionary; None for any other object."""
    try:
        return _modelled(interp, dict(held(value))) if value.part_of is not None else None  # type: ignore[return-value]
    except (NotKnown, ValueError):
        return None


def operated(interp: Interpreter, kind: type, left: Object, right: Object) -> Object:
    """Compute `left <operator> right` where one of them is held."""
    with suppress(KeyError, NotKnown):
        name, function = _OPERATORS[kind]
        listed = (ANSWERS[_kind(held(each))] for each in (left, right) if type(each) is StandardObject)
        if any(f"__{name}__" in names or f"__r{name}__" in names for names in listed):
            return answer(interp, function, [left, right], {})
    return interp.unknown()


def compared(interp: Interpreter, ask: Callable[[Any, Any], Any], left: Object, right: Object) -> bool | None:
    """Compute a comparison of which one side is held; None where it is not known."""
    with suppress(NotKnown):
        found = answer(interp, ask, [left, right], {})
        return found if isinstance(found, bool) else None
    return None


def is_instance(value: StandardObject, cls: str) -> bool | None:
    """Tell whether a held object is of the class with this dotted name; None where that is not known."""
    with suppress(NotKnown):
        owner = held(value)
        if any(f"{each.__module__}.{each.__qualname__}" == cls for each in type(owner).__mro__):
            return True
        # (It may go by another name, or be taken for one of an abstract class.)
        return False if cls.startswith("builtins.") else None
    return None


def text(value: StandardObject) -> str | None:
    """Return `str(value)`; None where Python's own text names an address, or the object is not known."""
    try:
        owner = held(value)
    except NotKnown:
        return None
    return str(owner) if _kind(owner) in _WITH_TEXT else None


_WITH_TEXT = frozenset(
    (
        *(f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta", "timezone")),
        "decimal.Decimal",
        "packaging.version.Version",
    )
)


def _ask(interp: Interpreter, value: StandardObject, name: str, key: Object) -> Object:
    with suppress(NotKnown):
        owner = held(value)
        if name in ANSWERS[_kind(owner)]:
            return answer(interp, getattr(owner, name), [key], {})
    return interp.unknown()


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _called(function: Callable[..., Any], arguments: list[Any], keywords: dict[str, Any]) -> Any:
    try:
        return function(*arguments, **keywords)
    except TimeoutError:
        raise
    except (NotKnown, MemoryError, RecursionError):
        raise NotKnown from None
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None


class _Given:
    """The arguments of a call, as Python's own values, of which no more than `left` characters and items may be had."""

    def __init__(self, interp: Interpreter, left: int) -> None:
        self.interp = interp
        self.left = left
        self.multiplies = left <= LARGEST_FACTOR

    def real(self, value: Object) -> Any:
        """Turn a known value into Python's own. Raises NotKnown."""
        value = self.interp.settle(value)
        if type(value) is External and value.name in CONSTANTS_OF:
            return CONSTANTS_OF[value.name]()
        if type(value) is StandardObject:
            return held(value)
        if is_constant(value):
            if not is_small(value) or is_symbolic(value):
                raise NotKnown
            self._take(len(value) if isinstance(value, (str, bytes, tuple)) else self._size(value))
            return value
        if isinstance(value, DictObject) and not value.writes.get(MAY_HAVE_CHANGED):
            self._take(len(value.fields))
            return {self.real(key): self.real(each) for key, each in value.fields.items()}
        if type(value) is ListObject and value.items is not None:
            self._take(len(value.items))
            return [self.real(each) for each in value.items]
        if isinstance(value, tuple):
            self._take(len(value))
            return tuple(map(self.real, value))
        raise NotKnown

    def _size(self, number: Any) -> int:
        """Return what a number may do to the size of a result: a width, or a count."""
        return abs(number) if isinstance(number, int) and self.multiplies else 1

    def _take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise NotKnown


CONSTANTS_OF: dict[str, Callable[[], Any]] = {}
"""The values of names of the standard library, by the dotted name."""


def _modelled(interp: Interpreter, value: Any) -> Object:
    """Turn an answer of the standard library into a value. Raises NotKnown for a large one, or one of another type."""
    if value is None or type(value) in (bool, int, float, str, bytes, complex):
        if not is_small(value):
            raise NotKnown
        found: Object = value
        return found
    if _kind(value) in ANSWERS:
        if _kind(value) == "decimal.Decimal" and abs(value.adjusted()) > MOST_DIGITS:
            raise NotKnown
        return hold(interp, value)
    if isinstance(value, Mapping):
        made = DictObject({}, interp.tick())
        made.fields = {key: _modelled(interp, value[key]) for key in _bounded(value)}
        return made
    if isinstance(value, (list, Iterator)) or _kind(value).startswith("builtins.dict_"):
        return ListObject([_modelled(interp, each) for each in _bounded(value)], interp.tick())
    if type(value) is tuple:
        return tuple(_modelled(interp, each) for each in value)
    raise NotKnown


def _bounded(values: Iterable[Any]) -> list[Any]:
    try:
        found = list(itertools.islice(values, MOST_ITEMS + 1))
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None
    if len(found) > MOST_ITEMS:
        raise NotKnown
    return found
