"""The program's code as values: modules, frames, calls and classes; global names that are not worked out yet."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, EnumMember, External, Function, Instance, Object

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.knowledge import ClassKnowledge


@dataclass(slots=True, eq=False)
class Module:
    """A parsed source file.

    `name` is its dotted name from the import root. `fields` are its global names, filled when the evaluator runs its
    top level (`ran`); `stars` are the modules it imports everything from; `decorated` are the definitions whose
    decorators did not run yet, with the names in them; `defined` are the functions that decorators were given, by
    their definitions; `variables` are those of the process that its top level sets (see eval/imports.py). `asked_for`
    means that the file is one of those to lint. `upstream` names the release whose source it belongs to. `bindings`
    holds the bindings of its names (see Frame). `written` means that it models a library (see eval/written.py).
    `yields` are the lines with a `yield` (None: any may have one), without which no function is a generator.
    """

    path: str
    name: str
    tree: ast.Module
    yields: Sequence[int] | None = None
    fields: dict[Any, Any] = field(default_factory=dict)
    bindings: dict[Any, Any] = field(default_factory=dict)
    ran: bool = False
    born: int = 0
    stars: list[Any] = field(default_factory=list)
    upstream: str | None = None
    asked_for: bool = False
    written: bool = False
    decorated: list[tuple[str, Any, frozenset[str]]] = field(default_factory=list)
    defined: dict[Any, Any] = field(default_factory=dict)
    variables: Any = None
    is_package: bool = False

    def __post_init__(self) -> None:
        self.is_package = os.path.basename(self.path) == "__init__.py"

    @property
    def of_program(self) -> bool:
        """Tell whether the module is no model of a library, and none of the release's."""
        return self.upstream is None and not self.written

    @property
    def is_project(self) -> bool:
        """Tell whether the module is one of a user's project: none of upstream's, asked for or not."""
        return self.upstream is None and not f"{self.name}.".startswith("megatron.")

    @property
    def is_own(self) -> bool:
        """Tell whether the module is asked for, or imported by such a file and none of Megatron's."""
        return self.asked_for or (self.upstream is None and not f"{self.name}.".startswith("megatron."))

    def __repr__(self) -> str:
        return f"Module({self.name})"


@dataclass(slots=True, eq=False)
class Frame:
    """The local names of one call (or of a module's top level, or of a class body), and where it was called from.

    `bindings` has for each name the values that it had, each with the expression or statement that gave it, and
    with the frame that ran that where it is another; and for each loop, which turn it is in.
    """

    module: Module
    function: str = ""
    enclosing: Frame | None = None
    caller: Frame | None = None
    node: ast.AST | None = None
    born: int = 0
    fields: dict[Any, Any] = field(default_factory=dict)
    bindings: dict[Any, Any] = field(default_factory=dict)
    cls: ClassObject | None = None
    code: Object = None
    is_class: bool = False
    handling: Any = None
    on_yield: Callable[[Object], Object] | None = None
    outer: dict[str, Any] = field(default_factory=dict)


def calls_to(frame: Frame) -> tuple[Any, ...]:
    """Return the calls that led to a frame, the last one first: module and function of each, and the calling node."""
    here: Frame | None = frame
    chain = []
    while here is not None and here.node is not None and here.caller is not None:
        if not here.caller.module.written:
            chain.append((here.caller.module, here.node, here.caller.function))
        here = here.caller
    return tuple(chain)


def told_at(node: ast.AST | None, focus: ast.AST | None, frame: Frame) -> tuple[ast.AST | None, ast.AST | None, Frame]:
    """Find the place in the program of an action at `node`: a library's action happens where the library is called."""
    while frame.module.written and frame.caller is not None:
        node, focus, frame = frame.node, None, frame.caller
    return node, focus, frame


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


class FieldSpec(NamedTuple):
    """A dataclass field: its default (or MISSING), or the factory that makes it.

    Values go through `convert`, defaults as well where it `converts_default`. The constructor's parameter is
    `given_as`; one that is `init_only` goes to `__post_init__`, and no further. `metadata` is MISSING where it is not
    known, and None where there is none.
    """

    name: str
    default: Object = MISSING
    factory: Object = MISSING
    init: bool = True
    keyword_only: bool = False
    convert: Object = MISSING
    converts_default: bool = False
    given_as: str = ""
    init_only: bool = False
    metadata: Object = MISSING


@dataclass(slots=True, eq=False)
class ClassObject:
    """A class. Its body runs when something of it is first needed.

    `order` is its method resolution order, `declared` its dataclass fields; both are worked out when first asked for.
    `plain` are the attributes that are known to be stored by Python itself, with no `__setattr__` or property.
    `data` has the facts of a class whose body is not at hand.
    `said` is what its body assigns to its names, as it is written; `given_by` is what it is of a function; it may
    also have given the class more attributes.
    `hooked` classes run code of the program when a class of them is defined, as far as their own files show.
    `opaque` classes have a base whose source is not at hand: what they do not show themselves is unknown.
    """

    name: str
    module: Module
    node: ast.ClassDef | None
    closure: Frame | None
    qualified_name: str = ""
    born: int = 0
    fields: dict[Any, Object] = field(default_factory=dict)
    writes: dict[Any, Any] = field(default_factory=dict)
    bases_of: list[Object] | None = None
    members: dict[str, EnumMember] | None = None
    data: ClassKnowledge | None = None
    ran: bool = False
    order: list[Object] | None = None
    declared: dict[str, FieldSpec] | None = None
    layout: Layout | None = None
    known: dict[str, tuple[Object, Object]] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    decorator: Any = MISSING
    said: Mapping[str, ast.expr | None] | None = None
    given_by: Any = None
    hooked: bool = False

    def __post_init__(self) -> None:
        self.qualified_name = f"{self.module.name}.{self.name}"

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
    initial: list[str]


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
