"""Classes of the evaluated program, as values; and global names whose values are not worked out yet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, EnumMember, External, Function, Instance, Object

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.knowledge import ClassKnowledge

PLAIN_BASES = {
    "object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol", "typing.NamedTuple",
    "typing.TypedDict", "typing_extensions.TypedDict", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag",
    "enum.IntFlag", "BaseException", "Exception", "ValueError", "RuntimeError", "TypeError",
    "KeyError",
}  # fmt: skip


class FieldSpec(NamedTuple):
    """A dataclass field: its default (or MISSING), or the factory that makes it.

    Values go through `convert`, defaults as well where it `converts_default`. The constructor's parameter is
    `given_as`.
    """

    name: str
    default: Object = MISSING
    factory: Object = MISSING
    init: bool = True
    keyword_only: bool = False
    convert: Object = MISSING
    converts_default: bool = False
    given_as: str = ""


class ClassObject:
    """A class. Its body runs when something of it is first needed.

    `order` is its method resolution order, `declared` its dataclass fields; both are worked out when first asked for.
    `plain` are the attributes that are known to be stored by Python itself, with no `__setattr__` or property.
    `data` has the facts of a class whose body is not at hand.
    `said` is what its body assigns to its names, as it is written.
    `opaque` classes have a base whose source is not at hand: what they do not show themselves is unknown.
    """

    __slots__ = (
        "bases_of",
        "born",
        "closure",
        "data",
        "declared",
        "decorator",
        "fields",
        "known",
        "layout",
        "members",
        "module",
        "name",
        "node",
        "order",
        "plain",
        "qualified_name",
        "ran",
        "said",
        "writes",
    )

    def __init__(self, name: str, module: Module, node: ast.ClassDef | None, closure: Frame | None) -> None:
        self.name = name
        self.module = module
        self.node = node
        self.closure = closure
        self.qualified_name = f"{module.name}.{name}"
        self.born = 0
        self.fields: dict[Any, Object] = {}
        self.writes: dict[Any, Any] = {}
        self.bases_of: list[Object] | None = None
        self.members: dict[str, EnumMember] | None = None
        self.data: ClassKnowledge | None = None
        self.ran = False
        self.order: list[Object] | None = None
        self.declared: dict[str, FieldSpec] | None = None
        self.layout: Layout | None = None
        self.known: dict[str, tuple[Object, Object]] = {}
        self.plain: set[str] = set()
        self.decorator: Any = MISSING
        self.said: Mapping[str, ast.expr | None] | None = None

    def __repr__(self) -> str:
        return f"Class({self.qualified_name})"


def base_name(base: Object) -> str:
    """Return the dotted name of a base that is no class of the program."""
    name: str = getattr(base, "name", "?")
    return name.removeprefix("builtins.")


def qualified(cls: Object) -> str:
    """Return the dotted name of a class, for comparison."""
    return cls.qualified_name if isinstance(cls, ClassObject) else base_name(cls)


def classes_of(value: Instance) -> tuple[Object, ...]:
    """Return the classes that an object may be of: several where it is one of several; not all are at hand."""
    return value.cls.options if isinstance(value.cls, Choice) else (value.cls,)


class Layout(NamedTuple):
    """Facts about a dataclass for making an instance of it, worked out once a class."""

    specs: dict[str, FieldSpec]
    positional: list[str]
    constants: dict[Any, Object]
    others: list[FieldSpec]
    hooked: bool
    after: list[Object]
    renamed: dict[str, str]


def plain(value: Object) -> Object:
    """Return an enumeration member that is a string or number at heart (`class F(str, Enum)`) as that value."""
    if isinstance(value, EnumMember):
        names = {base_name(base) for base in value.cls.order or ()}
        if names & {"str", "int", "enum.IntEnum", "enum.StrEnum", "enum.IntFlag"}:
            return value.value
    return value


READY = frozenset((ClassObject, Function, Module, External, str, int, float, bool, type(None), EnumMember))
"""Kinds of global values that need nothing more to be done before they are used."""


class Deferred:
    """A global name whose value is worked out when it is first read (an import, a decorated definition)."""

    __slots__ = ("resolve", "running", "settled")

    def __init__(self, resolve: Callable[[], Object]) -> None:
        self.resolve = resolve
        self.running = False
        self.settled = False


class StarOut:
    """`from package import *` of a package that is not at hand: any missing name may come from it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
