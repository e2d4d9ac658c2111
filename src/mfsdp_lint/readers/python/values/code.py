"""Calls of the program's code, facts about its classes, and global names that are not worked out yet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.values.objects import (
    Choice,
    ClassObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Object,
)


def calls_to(frame: Frame) -> tuple[Any, ...]:
    """Return the calls that led to a frame, the last one first: module and function of each, and the calling node."""
    here: Frame | None = frame
    chain = []
    while here is not None and here.node is not None and here.caller is not None:
        if not here.caller.module.written:
            chain.append((here.caller.module, here.node, here.caller.function))
        here = here.caller
    return tuple(chain)


def told_at(node: ast.AST | None, frame: Frame) -> tuple[ast.AST | None, Frame]:
    """Find the place in the program of an action at `node`: a library's action happens where the library is called."""
    while frame.module.written and frame.caller is not None:
        node, frame = frame.node, frame.caller
    return node, frame


Focus = Mapping[str, Any]
"""The expressions that give the values of keyword arguments, by keyword."""
NO_FOCUS: Focus = {}


class Call(NamedTuple):
    """The arguments of a call, and the place of the call.

    `node` is the calling expression or statement, None where no text of the program calls; `frame` is the frame that
    calls. `focus` has the expressions of keyword arguments, where they stand elsewhere than in `node`.
    """

    arguments: list[Object]
    keywords: dict[str, Object]
    node: Any
    frame: Frame
    focus: Focus = NO_FOCUS

    @property
    def values(self) -> list[Object]:
        """The arguments, those that are given by name behind the others."""
        return [*self.arguments, *self.keywords.values()]

    def argument(self, place: int, name: str = "", default: Object = None) -> Object:
        """Return the argument that is given by place or by name; the default where it is not given."""
        return self.arguments[place] if place < len(self.arguments) else self.keywords.get(name, default)

    def expression(self, place: int) -> ast.expr | None:
        """Return the expression of the argument at a place; None where no text of the program gives it."""
        given = self.node.args if isinstance(self.node, ast.Call) else ()
        return given[place] if place < len(given) else None

    def passing(self, arguments: list[Object], keywords: dict[str, Object] | None = None) -> Call:
        """Return a call at the same place with other arguments."""
        focus = self.focus if keywords is self.keywords else NO_FOCUS
        return Call(arguments, {} if keywords is None else keywords, self.node, self.frame, focus)


PLAIN_BASES = {
    "object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol", "typing.NamedTuple",
    "typing.TypedDict", "typing_extensions.TypedDict", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag",
    "enum.IntFlag", "BaseException", "Exception", "ValueError", "RuntimeError", "TypeError",
    "KeyError",
}  # fmt: skip


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


def plain(value: Object) -> Object:
    """Return an enumeration member that is a string or number at heart (`class F(str, Enum)`) as that value."""
    if isinstance(value, EnumMember):
        names = {base_name(base) for base in value.cls.order or ()}
        if names & {"str", "int", "enum.IntEnum", "enum.StrEnum", "enum.IntFlag"}:
            return value.value
    return value


READY = frozenset((ClassObject, Function, Module, External, str, int, float, bool, type(None), EnumMember))
"""Kinds of global values that need nothing more to be done before they are used."""


@dataclass(slots=True, eq=False)
class Deferred:
    """A global name whose value is worked out when it is first read (an import, a decorated definition)."""

    resolve: Callable[[], Object]
    running: bool = False
    settled: bool = False


@dataclass(slots=True, eq=False)
class StarOut:
    """`from package import *` of a package that is not at hand: any missing name may come from it."""

    name: str
