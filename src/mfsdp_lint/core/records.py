"""Slotted dataclasses that cost next to nothing before they are used.

The standard library's decorator compiles six methods for every class, half a millisecond each time: for the hundred
classes that a run imports, more than the run may take. Here `__init__` is compiled for the first instance, and what
compares, hashes and prints is shared. They are used as those of `dataclasses` are, which is what the type checker sees,
and its `fields`, `replace` and `asdict` know them.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter, ge, gt, le, lt
from types import CodeType, FunctionType

TYPE_CHECKING = False  # `typing` itself takes longer than all the classes
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass, field, fields, replace
    from typing import Any

__all__ = ["dataclass", "field", "fields", "replace"]

_FIELDS = "__record_fields__"
_SETTERS = "__record_setters__"


class _Missing:
    """A marker for an option that is not given."""


class _Field:
    """The options that `dataclasses.field` gives one field."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

    def __init__(
        self,
        *,
        default: object = _Missing,
        default_factory: object = _Missing,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare


def _dataclass(
    *, slots: bool, frozen: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type[Any]], type[Any]]:
    """Apply `@dataclass(slots=True, …)`; there are no others here."""
    if not slots:
        raise TypeError("a record has slots")
    return lambda cls: _record(cls, frozen, eq, order)


def _record(cls: type[Any], frozen: bool, eq: bool, order: bool) -> type[Any]:
    """Build the class again, with slots for its fields."""
    body = dict(cls.__dict__)
    inherited = {each.name: each for base in cls.__mro__[:0:-1] for each in base.__dict__.get(_FIELDS, ())}
    own = {name: _field_of(name, body.pop(name, _Missing)) for name in cls.__annotations__}
    every = tuple((inherited | own).values())
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body |= {
        "__slots__": tuple(name for name in own if name not in inherited),
        "__match_args__": tuple(each.name for each in every if each.init),
        "__dataclass_fields__": _StandardFields(),
        "__init__": _first_init(frozen),
        _FIELDS: every,
        _SETTERS: None,
    }
    body.setdefault("__repr__", _repr)
    if eq:
        body |= _comparisons([each.name for each in every if each.compare], order)
    if eq and not body.get("__hash__"):
        body["__hash__"] = _hash if frozen else None
    if frozen:
        body |= {"__setattr__": _refused, "__delattr__": _refused}
        if all(each.init for each in every) and not hasattr(cls, "__post_init__"):
            body.setdefault("__reduce__", _reduced)
        else:
            body.setdefault("__reduce__", object.__reduce__)
            body |= {"__getstate__": _state, "__setstate__": _restored}
    kind: Any = type(cls)
    made: type[Any] = kind(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _field_of(name: str, said: object) -> _Field:
    found = said if isinstance(said, _Field) else _Field(default=said)
    found.name = name
    return found


def _fields(cls: Any) -> Sequence[_Field]:
    """Return the fields of a record, or of its class."""
    found: Sequence[_Field] = getattr(cls, _FIELDS)
    return found


def _replace(record: Any, /, **changes: Any) -> Any:
    """Copy a record with other values."""
    if not hasattr(record, _FIELDS):
        from dataclasses import replace

        return replace(record, **changes)
    for each in _fields(record):
        if each.init and each.name not in changes:
            changes[each.name] = getattr(record, each.name)
    return type(record)(**changes)


def _first_init(frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that has the real one made, and put in its place, when it is first needed."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        cls: Any = next(each for each in type(self).__mro__ if each.__dict__.get("__init__") is init)
        cls.__init__ = real = _made_init(cls, frozen)
        real(self, *args, **kwargs)

    return init


def _made_init(cls: type[Any], frozen: bool) -> Callable[..., None]:
    """Write the `__init__` of a record in terms of the numbers of its fields, as many others have the same."""
    scope: dict[str, Any] = {"_Missing": _Missing}
    parameters, body = ["self"], []
    defaults: list[object] = []
    names = {f"_{number}": each.name for number, each in enumerate(_fields(cls))}
    for name, each in zip(names, _fields(cls), strict=True):
        value = name
        if each.default_factory is not _Missing:
            scope[f"_make{name}"] = each.default_factory
            value = f"_make{name}() if {name} is _Missing else {name}" if each.init else f"_make{name}()"
            defaults += [_Missing] if each.init else []
        elif each.default is not _Missing:
            scope[f"_default{name}"] = each.default
            value = name if each.init else f"_default{name}"
            defaults += [each.default] if each.init else []
        elif not each.init:
            continue  # __post_init__ says it
        parameters += [name] if each.init else []
        scope[f"_set{name}"] = getattr(cls, each.name).__set__
        body.append(f"_set{name}(self, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    code = _code(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]))
    code = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
    )
    made = FunctionType(code, scope, "__init__", tuple(defaults))
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


@cache
def _code(function: str) -> CodeType:
    scope: dict[str, Any] = {}
    exec(function, scope)
    code: CodeType = scope["__init__"].__code__
    return code


def _comparisons(names: list[str], order: bool) -> dict[str, Any]:
    """Return the methods that compare records of one class as the tuples of their fields."""
    get = attrgetter(*names) if names else None
    if get is None:
        key: Callable[[Any], Any] = lambda self: ()  # noqa: E731
    elif len(names) == 1:
        key = lambda self: (get(self),)  # noqa: E731
    else:
        key = get

    def equal(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def compared(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
        return lambda self, other: (
            operation(key(self), key(other)) if other.__class__ is self.__class__ else NotImplemented
        )

    ordered = {f"__{each.__name__}__": compared(each) for each in (lt, le, gt, ge)} if order else {}
    return {"__eq__": equal, "__record_key__": staticmethod(key), **ordered}


def _hash(self: Any) -> int:
    return hash(self.__record_key__(self))


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in _fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refused(self: object, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _reduced(self: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the class and the values that make a record again, but for the last ones that are its defaults."""
    cls = type(self)
    values = [getattr(self, each.name) for each in _fields(cls)]
    for each in reversed(_fields(cls)):
        value, default = values[-1], each.default
        if value is not default and (value or type(value) is not type(default)):  # (all that is nothing is equal)
            break
        values.pop()
    return cls, tuple(values)


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in _fields(self)]


def _restored(self: Any, state: list[Any]) -> None:
    for write, value in zip(type(self).__record_setters__ or _setters(type(self)), state, strict=True):
        write(self, value)


def _setters(cls: Any) -> Sequence[Callable[[Any, Any], None]]:
    """Return the functions that set the fields of a record, also of a frozen one."""
    found = tuple(getattr(cls, each.name).__set__ for each in _fields(cls))
    cls.__record_setters__ = found
    return found


class _StandardFields:
    """`__dataclass_fields__`, made when somebody asks."""

    def __get__(self, _: object, cls: type[Any]) -> dict[str, Any]:
        import dataclasses

        said = {}
        for each in _fields(cls):
            options: dict[str, Any] = {"init": each.init, "repr": each.repr, "compare": each.compare}
            if each.default is not _Missing:
                options["default"] = each.default
            if each.default_factory is not _Missing:
                options["default_factory"] = each.default_factory
            said[each.name] = dataclasses.field(**options)
        plain: Any = dataclasses.make_dataclass(cls.__name__, [(name, "object", each) for name, each in said.items()])
        found: dict[str, Any] = plain.__dataclass_fields__
        record: Any = next(each for each in cls.__mro__ if _FIELDS in each.__dict__)
        record.__dataclass_fields__ = found  # asked for once for each record that is written to the cache
        return found


if not TYPE_CHECKING:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace
