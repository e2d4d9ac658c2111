"""Values that the evaluator computes with: Python's values, as far as they are known without running anything.

Constants (None, booleans, numbers, strings, bytes), tuples and frozensets of values represent themselves. Everything
mutable or unknown is an object of the classes below. A mutable object keeps its contents in a plain dictionary, so
that one journal can undo any change, and remembers when it was made (`born`), so that it is clear which objects a call
found.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeGuard, TypeVar

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import CWD
from mfsdp_lint.readers.python.values.markers import IDENTITY, LACKED, LOADED, OBSTACLE

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import TypeAlias

    Def: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
    """The node of a function that has a name, statements and decorators."""
    Constant: TypeAlias = bool | int | float | complex | str | bytes | EllipsisType | None
    """A value that represents itself."""
    Immutable: TypeAlias = "Constant | tuple[Object, ...] | frozenset[Object] | slice"
    """A value that Python itself keeps from changing."""
    Open: TypeAlias = "Unknown | Choice | External"
    """A value that is not known, or not for certain."""
    Mutable: TypeAlias = "Instance | ListObject | DictObject | Suspended"
    """A value with contents of its own, which the program may change."""
    Routine: TypeAlias = "Function | Bound | Partial | Descriptor | Native"
    """A function, and what is made of one."""
    Definition: TypeAlias = "ClassObject | EnumMember | Super | Module"
    """A class or a module, and what stands for a part of one."""
    Object: TypeAlias = "Immutable | Open | Mutable | Routine | Definition | Missing"
    """Any value of the evaluated program, and MISSING where there may be none."""
else:
    Object = Any


class Missing(Enum):
    """A placeholder for no value; a class of its own, so that `is not MISSING` tells it from every value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

UNREAD: Any = object()
"""Stands for what was not looked at yet."""

Place = tuple["Module", Any, str]
"""A piece of a program's text: its module, its node, and the function that it stands in.

Of data that the program loads it is the module and function that load it, and instead of a node the Origin in the data;
of a variable of the environment, as an obstacle, its name.
"""


OVERRIDE = "override"
"""How an override is written that somebody gives the program, in a list or as words."""


class Write(NamedTuple):
    """A write of one attribute or entry: its place, its value, and the earlier write there.

    `sources` are the texts that the value was handed on from, the nearest first; the last one decides it.
    """

    module: Module | None
    node: ast.AST | None
    focus: ast.AST | None
    function: str
    how: str
    value: Object
    order: int
    earlier: Write | None
    frames: tuple[tuple[Module | None, ast.AST | None, str], ...] = ()
    sources: tuple[Place, ...] = ()

    def __hash__(self) -> int:
        """Return the same for equal writes; not every value has a hash (a slice has none before Python 3.12)."""
        return hash((self.module, self.node, self.focus, self.order))

    def place_in(self, module: Module) -> ast.AST | None:
        """Return the expression that gave the value; None where that stands in another module."""
        return (self.focus or self.node) if self.module is module else None


@dataclass(frozen=True, slots=True)
class Lacked:
    """A write to a name that its object does not have. `below` is what the writing text has behind the name.

    `refused`: start-up raises; else it passes over the write.
    """

    name: str
    below: str
    write: Write
    refused: bool


class Unknown:
    """A value that is not known. `fields` are the attributes and entries that were read from it or written to it.
    `obstacle` is the call in the program that is not followed, where that made it unknown, or what it is a part of, or
    was worked out from. Of a parameter, and of what upstream's code leaves open, there is none.

    The same object always stands for the same value, so a condition on it that was decided once stays decided.
    """

    __slots__ = ("born", "fields", "not_none", "obstacle", "text", "writes")

    def __init__(self, born: int = 0, text: str = "", not_none: bool = False, obstacle: Place | None = None) -> None:
        self.born = born
        self.obstacle = obstacle
        self.text = text
        self.not_none = not_none
        self.fields: dict[Any, Any] = {}
        self.writes: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"Unknown({self.text})"


class Option(Unknown):
    """A value given by a command-line option or a variable of the environment, or worked out from such a value.

    By default it is `default`, if known; whoever starts the program may change it. `text` names the option,
    `--tp-size`, or the variable, `$TP_SIZE`; `said` is the place where the default is written.
    """

    __slots__ = ("default", "said")

    def __init__(
        self, born: int, text: str, default: Object = MISSING, not_none: bool = False, said: Place | None = None
    ) -> None:
        super().__init__(born, text, not_none)
        self.default = default
        self.said = said


class PathObject(Unknown):
    """A `pathlib.Path` of a known text."""

    __slots__ = ("path",)

    def __init__(self, born: int, path: str) -> None:
        super().__init__(born, "path", True)
        self.path = path


class StandardObject(Unknown):
    """An object of Python's standard library that is known: a match, a date, a parser (eval/standard_objects.py).

    `held` is the object itself; one that methods change is among the fields, under HELD. `part_of` is an object and the
    key at which this one is found in it.
    """

    __slots__ = ("held", "part_of")

    def __init__(self, born: int, held: Any = None, part_of: tuple[StandardObject, str] | None = None) -> None:
        super().__init__(born, "", True)
        self.held = held
        self.part_of = part_of


class PartlyKnown(Unknown):
    """A text of which parts are known: `said` has a HOLE for each of the others."""

    __slots__ = ("said",)

    def __init__(self, born: int, said: str) -> None:
        super().__init__(born, "", True)
        self.said = said


class ConfigTree(Unknown):
    """A configuration of OmegaConf: its entries are among its fields; a write tells that somebody changed one.

    `above` is the tree that it is an entry of, None where there is none.
    """

    __slots__ = ("above",)

    def __init__(self, born: int = 0, text: str = "", not_none: bool = False, obstacle: Place | None = None) -> None:
        super().__init__(born, text, not_none, obstacle)
        self.above: ConfigTree | None = None


class Interpolation(Unknown):
    """An entry of a ConfigTree that OmegaConf works out when it is read: `text` is written in it, as `${other.entry}`.

    `found` is the tree and the key of the entry that it stood for when it was read last, None where it is no other
    entry's value alone.
    """

    __slots__ = ("found",)

    def __init__(self, born: int, text: str) -> None:
        super().__init__(born, text)
        self.found: tuple[ConfigTree, str] | None = None


def derived(value: Object, *operands: Object) -> Object:
    """Return a constant worked out from these operands: it is still an option's where one of them is."""
    for operand in operands:
        if type(operand) is Option and isinstance(value, (*CONSTANTS, Option)):
            given = [each for each in (value, *operands) if type(each) is Option]
            names = dict.fromkeys(name for each in given for name in each.text.split(", "))
            known = value.default if type(value) is Option else value
            return Option(0, ", ".join(names), known, known is not None, said=operand.said)
    return value


def obstacle_of(*values: Object | range) -> Place | None:
    """Return the unfollowed call of the first value that has one: that value is unknown because of it; None if none."""
    for value in values:
        found: Place | None = None
        if isinstance(value, Unknown):
            found = value.obstacle
        elif isinstance(value, Choice):
            found = obstacle_of(*value.options)
        elif isinstance(value, DictObject):
            found = value.writes.get(OBSTACLE)
        elif isinstance(value, ListObject) and value.items is None:
            found = value.fields.get(OBSTACLE)
        if found is not None:
            return found
    return None


def blame(value: Object, obstacle: Place | None) -> None:
    """Give a new value that is not known, or whose contents are not, its obstacle, where it has none."""
    if obstacle is None or obstacle_of(value) is not None:
        return
    if isinstance(value, Unknown):
        value.obstacle = obstacle
    elif isinstance(value, DictObject):
        value.writes[OBSTACLE] = obstacle
    elif isinstance(value, ListObject):
        value.fields[OBSTACLE] = obstacle


class PickedBy(NamedTuple):
    """The key of a table whose entry a choice is: the unknown value, its text, and the keys that take some option."""

    key: Unknown
    text: str
    values: tuple[Object, ...]

    @property
    def words(self) -> str:
        """The condition under which it is that option."""
        return condition(self.text, self.values)


def condition(text: str, values: Sequence[object]) -> str:
    """Return the condition that an expression has one of these values."""
    said = [repr(each) for each in values]
    return f"{text} == {said[0]}" if len(said) == 1 else f"{text} in ({', '.join(said)})"


class Choice:
    """A choice of several values; which one is not known.

    Where it is the part of a selection (`preset["offload"]`), `of` is that selection and the part's value in each of
    its options; MISSING where reading fails. A selection is one option for as long as its owner is: a decision about
    one of its parts holds for the others. Of an entry of a table, `by` is the key that is not known, its text, and the
    keys of each option.
    """

    __slots__ = ("by", "is_selection", "of", "options")

    def __init__(
        self,
        options: tuple[Object, ...],
        of: tuple[Choice, tuple[Object, ...]] | None = None,
        is_selection: bool = False,
        by: tuple[Unknown, str, tuple[tuple[Object, ...], ...]] | None = None,
    ) -> None:
        self.options = options
        self.of = of
        self.is_selection = is_selection or of is not None
        self.by = by

    def picked_by(self, *options: Object) -> PickedBy | None:
        """Return the key by which it is one of these of its options; None where that is not known."""
        whole, values = (self, self.options) if self.of is None else self.of
        is_kept = [any(identical(value, one) for one in options) for value in values]
        if self.of is not None:
            return whole.picked_by(*(each for each, kept in zip(whole.options, is_kept, strict=True) if kept))
        if self.by is None or not any(is_kept):
            return None
        key, text, keys = self.by
        return PickedBy(key, text, tuple(each for row, kept in zip(keys, is_kept, strict=True) if kept for each in row))

    def __repr__(self) -> str:
        return f"Choice{self.options!r}"


def lacked_by(owner: Object) -> tuple[Lacked, ...]:
    """Return the writes to names that a tree, a dictionary or an object does not have."""
    kept = owner.writes if isinstance(owner, DictObject) else getattr(owner, "fields", {})
    found = kept.get(LACKED, ())
    return found if isinstance(found, tuple) else ()


def uncertain(value: Object) -> TypeGuard[Choice]:
    """Tell whether an element or entry may be missing."""
    return type(value) is Choice and MISSING in value.options


@dataclass(slots=True, eq=False)
class External:
    """A member of a module whose source is not at hand, by its dotted name (`torch.bfloat16`)."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, External) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"External({self.name})"


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a known class. Fields that nobody wrote are missing from `writes`; `made` is the call."""

    cls: ClassObject | Choice | External
    born: int
    made: Write | None = None
    fields: dict[Any, Object] = field(default_factory=dict)
    writes: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Instance({self.cls!r})"


class ListObject:
    """A list. The Python list inside is never changed in place, so that a copy is the same list."""

    __slots__ = ("born", "fields")

    def __init__(self, items: list[Object] | None, born: int) -> None:
        self.fields: dict[Any, Any] = {"items": items}
        self.born = born

    @property
    def items(self) -> Any:
        """The elements, None where they are not known."""
        return self.fields["items"]

    @property
    def places(self) -> Sequence[Place]:
        """Return the places of the elements in the data that they were loaded from; nothing once others
        replace them.
        """
        loaded, places = self.fields.get(LOADED, (None, ()))
        return places if loaded is not None and loaded is self.items else ()

    def loaded_from(self, places: Sequence[Place]) -> None:
        """Keep where the elements that it has now stand in the data."""
        if places:
            self.fields[LOADED] = (self.items, places)

    def __repr__(self) -> str:
        return f"List({self.items!r})"


class SetObject(ListObject):
    """A set, kept as a list without repeats."""

    __slots__ = ()


class IteratorObject(ListObject):
    """An iterator that `iter`, `zip`, `map` or a generator expression gives: the elements that nobody has taken yet.

    `error` is the error that evaluating a further element raises; `walked` are the lists that it walks over, each with
    the elements that it had: Python looks at them only when an element is asked for.
    """

    __slots__ = ("error", "walked")

    def __init__(self, items: list[Object] | None, born: int, error: Exception | None = None) -> None:
        super().__init__(items, born)
        self.error = error
        self.walked: list[tuple[ListObject, Any]] = []

    @property
    def is_stale(self) -> bool:
        """Tell whether a list that the iterator walks over was changed since."""
        return any(walked.items is not items for walked, items in self.walked)


class Suspended:
    """A call whose body runs later: of a generator function or an asynchronous one (state/calling.py has the two)."""

    __slots__ = ("born", "fields")

    def __init__(self, born: int) -> None:
        self.born = born
        self.fields: dict[Any, Object] = {}


@dataclass(slots=True, eq=False)
class DictObject:
    """A dictionary with constant keys. Where `writes` has HAZY, it may hold further or other entries.

    `view_of` is the object whose attributes its entries are, where that has others than it shows: `vars(that)`.
    `cls` is a class of the program's own that it is made of (see `is_table`).
    """

    fields: dict[Any, Object]
    born: int
    writes: dict[Any, Any] = field(default_factory=dict)
    made: Write | None = None
    view_of: Unknown | Instance | None = None
    cls: ClassObject | None = None

    def __repr__(self) -> str:
        return f"Dict({self.fields!r})"


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


class Signature:
    """A function's parameters for binding: the names that take an argument by position, by name, and all of them.

    `rest` is the name of `*args`.
    """

    __slots__ = ("named", "parameters", "positional", "rest")

    def __init__(self, arguments: ast.arguments) -> None:
        keyword_only = [each.arg for each in arguments.kwonlyargs]
        self.positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        self.named = frozenset((*self.positional[len(arguments.posonlyargs) :], *keyword_only))
        self.parameters = (*self.positional, *keyword_only)
        self.rest = None if arguments.vararg is None else arguments.vararg.arg


class Function:
    """A function of the program: its definition, the module it belongs to, and the names it closes over. `fields` are
    the attributes that the program gave it. `given_by` is a decorator out of sight, which may give it the arguments
    that a call leaves out (gin, Sacred).

    What only a `def` has (`body`, `decorators`, `returns`) is asked of the function: a lambda has none of it.
    """

    __slots__ = (
        "_constant", "_fields", "_signature", "closure", "cls", "defaults", "given_by", "is_async", "is_generator",
        "module", "name", "node", "unwrapped",
    )  # fmt: skip

    born = 0
    """Nobody asks when a function was made: a write to one may concern everybody."""

    def __init__(
        self, node: Def | ast.Lambda, module: Module, closure: Any, name: str, cls: ClassObject | None = None
    ) -> None:
        self.node = node
        self.module = module
        self.closure = closure
        self.name = name
        self.cls = cls
        self.defaults: dict[str, Object] = {}
        self.is_generator: bool | None = None
        self.is_async = isinstance(node, ast.AsyncFunctionDef)
        self.unwrapped: Object = None
        self.given_by: Place | None = None
        self._constant: Object = UNREAD
        self._signature: Signature | None = None
        self._fields: dict[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"Function({self.name})"

    @property
    def body(self) -> list[ast.stmt]:
        """Return the function's statements."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.body

    @property
    def decorators(self) -> list[ast.expr]:
        """The expressions of its decorators."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list

    @property
    def returns(self) -> ast.expr | None:
        """The annotation of its result."""
        return None if isinstance(self.node, ast.Lambda) else self.node.returns

    @property
    def fields(self) -> dict[Any, Any]:
        """The attributes that the program gave it; hardly any function has some."""
        if self._fields is None:
            self._fields = {}
        return self._fields

    @property
    def signature(self) -> Signature:
        """Return the function's parameters."""
        if self._signature is None:
            self._signature = Signature(self.node.args)
        return self._signature

    @property
    def constant(self) -> Object:
        """Return the constant of a function that does nothing but return it; MISSING for any other function."""
        if self._constant is UNREAD:
            self._constant = _constant_body(self)
        return self._constant


def _constant_body(function: Function) -> Object:
    body = function.body
    if function.is_async or not 1 <= len(body) <= 2:
        return MISSING
    last = body[-1]
    if len(body) == 2 and not (type(body[0]) is ast.Expr and type(body[0].value) is ast.Constant):
        return MISSING
    return last.value.value if type(last) is ast.Return and type(last.value) is ast.Constant else MISSING


@dataclass(slots=True, eq=False)
class Bound:
    """A method with its object, or a built-in method by name."""

    function: Object
    owner: Object


@dataclass(slots=True, eq=False)
class Partial:
    """`functools.partial(function, *arguments, **keywords)`; a `partialmethod` where it is a `method`.

    `made` is that call, with the frame that it stands in.
    """

    function: Object
    arguments: list[Object]
    keywords: dict[str, Object]
    made: tuple[Any, Any] | None = None
    method: bool = False


@dataclass(slots=True, eq=False)
class Descriptor:
    """`property`, `staticmethod` or `classmethod` around a function."""

    kind: str
    function: Object
    setter: Object = None


@dataclass(slots=True, eq=False)
class Native:
    """A function that the evaluator itself provides (a built-in, or a modelled function of the standard library)."""

    name: str
    call: Callable[[Any, Any], Object]

    def __repr__(self) -> str:
        return f"Native({self.name})"


class FieldSpec(NamedTuple):
    """A dataclass field: its default (or MISSING), or the factory that makes it.

    A factory that `takes_self` is called with the object, whose other fields have their values by then.
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
    takes_self: bool = False


class ClassKnowledge(Protocol):
    """Facts of one of upstream's classes, in place of its body, for the interpreter that the class belongs to.

    Instances of an `opaque` class may have unknown attributes; fields of one that
    `is_frozen` cannot be assigned.
    """

    is_dataclass: bool
    is_frozen: bool
    opaque: bool

    def fill(self, cls: ClassObject) -> None:
        """Add the attributes that the class body defines."""

    def field_specs(self, cls: ClassObject) -> list[FieldSpec]:
        """Return the dataclass fields that the class itself declares."""

    def also_set(self, name: str) -> Sequence[str]:
        """Return the other attributes that take the value when an attribute is assigned."""

    def provider(self, method: str, architecture: str | None) -> Object:
        """Return the model provider that a method of AutoBridge makes for a Hugging Face architecture (None: for any).

        None where none is known. Only the class AutoBridge is asked.
        """


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


@dataclass(slots=True, eq=False)
class EnumMember:
    """A member of an enumeration; `fields` are the attributes that the enumeration's own `__init__` gave it."""

    cls: ClassObject
    name: str
    value: Object
    fields: dict[Any, Object] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"EnumMember({self.name})"


@dataclass(slots=True, eq=False)
class Super:
    """`super()`: attribute look-up that starts behind a class."""

    after: Object
    owner: Object


CONSTANTS = (type(None), bool, int, float, str, bytes, complex, type(...))


def is_constant(value: Object) -> bool:
    """Tell whether a value represents itself, down to the last element."""
    if isinstance(value, CONSTANTS):
        return True
    return isinstance(value, (tuple, frozenset)) and all(is_constant(item) for item in value)


Kind = TypeVar("Kind")


def all_are(values: Sequence[Object], kind: type[Kind]) -> TypeGuard[Sequence[Kind]]:
    """Tell whether all values are of one of Python's own types."""
    return all(isinstance(value, kind) for value in values)


SYMBOLS = (CWD, "<DIR:")
"""How the symbols in a text begin; `<DIR:3>` stands for a folder of the tree that is read (eval/path_objects.py)."""


def is_symbolic(*values: Object) -> bool:
    """Tell whether a text has a part that is only known when the program runs."""
    return any(isinstance(value, str) and "<" in value and (CWD in value or "<DIR:" in value) for value in values)


def is_object(value: Object) -> bool:
    """Tell whether a value is known to have attributes of its own, which may be written."""
    return isinstance(value, Instance) or (isinstance(value, Unknown) and not IDENTITY.issuperset(value.fields))


def identical(left: Object, right: Object) -> bool:
    """Tell whether two values are the same: the same object, or equal constants of one type."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, (str, int, float, bytes, bool)):
        return bool(left == right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    return isinstance(left, (External, frozenset)) and bool(left == right)


TRUTH_WORDS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
"""Words for true and false, in lower case: distutils (CPython 3.11, util.py), click, HfArgumentParser and pydantic."""

DTYPES = {
    "float32", "float", "float16", "half", "bfloat16", "float64", "double", "int8", "uint8", "int16", "int32",
    "int64", "bool",
    "float8_e4m3fn", "float8_e5m2",
}  # fmt: skip
"""torch's dtype names (torch 2.13.0, torch/__init__.pyi)."""
