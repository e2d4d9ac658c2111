"""What the evaluator computes with: Python's values, as far as they are known without running anything.

Constants (None, booleans, numbers, strings, bytes), tuples and frozensets of values stand for themselves. Everything
mutable or unknown is one of the classes below. A mutable object keeps its contents in a plain dictionary, so that one
journal can undo any change, and remembers when it was made (`born`), so that it is clear which objects a call found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, TypeVar

from mfsdp_lint.core.values import CWD
from mfsdp_lint.readers.python.values.markers import LOADED

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import TypeAlias

    from mfsdp_lint.readers.python.state.generators import Coroutine, GeneratorCall
    from mfsdp_lint.readers.python.values.classes import ClassObject
    from mfsdp_lint.readers.python.values.modules import Module

    Constant: TypeAlias = bool | int | float | complex | str | bytes | EllipsisType | None
    """What stands for itself."""
    Immutable: TypeAlias = "Constant | tuple[Object, ...] | frozenset[Object] | slice"
    """What Python itself keeps from changing."""
    Open: TypeAlias = "Unknown | Choice | External"
    """What is not known, or not for certain."""
    Mutable: TypeAlias = "Instance | ListObject | DictObject | GeneratorCall | Coroutine"
    """What has contents of its own, which the program may change."""
    Routine: TypeAlias = "Function | Bound | Partial | Descriptor | Native"
    """A function, and what is made of one."""
    Definition: TypeAlias = "ClassObject | EnumMember | Super | Module"
    """A class or a module, and what stands for a part of one."""
    Object: TypeAlias = "Immutable | Open | Mutable | Routine | Definition | Missing"
    """Any value of the evaluated program, and MISSING where there may be none."""
else:
    Object = Any


class Missing(Enum):
    """What stands where there is nothing; a class of its own, so that `is not MISSING` tells it from every value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

UNREAD: Any = object()
"""Stands for what was not looked at yet."""


Place = tuple["Module", Any, str]
"""A piece of a program's text: its module, its node, and the function that it stands in.

Of data that the program loads it is the module and function that load it, and instead of a node the Origin in the data.
"""


class Write(NamedTuple):
    """One write of one attribute or entry: where, which value, and what was written there before.

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


class Unknown:
    """A value that is not known. `fields` are the attributes and entries that were read from it or written to it.

    The same object always stands for the same value, so a condition on it that was decided once stays decided.
    """

    __slots__ = ("born", "fields", "not_none", "text", "writes")

    def __init__(self, born: int = 0, text: str = "", not_none: bool = False) -> None:
        self.born = born
        self.text = text
        self.not_none = not_none
        self.fields: dict[Any, Any] = {}
        self.writes: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"Unknown({self.text})"


class Option(Unknown):
    """What an option of the command line, or a variable of the environment, gives, or what was worked out from that.

    By default that is `default`, if known; whoever starts the program may change it. `text` names the option,
    `--tp-size`, or the variable, `$TP_SIZE`; `said` is where the default is written.
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


class PartlyKnown(Unknown):
    """A text of which parts are known: `said` has a HOLE for each of the others."""

    __slots__ = ("said",)

    def __init__(self, born: int, said: str) -> None:
        super().__init__(born, "", True)
        self.said = said


class ConfigTree(Unknown):
    """A configuration of OmegaConf: its entries are among its fields; a write tells that somebody changed one."""

    __slots__ = ()


def derived(value: Object, *operands: Object) -> Object:
    """A constant that was worked out from these: still an option's where one of them is."""
    for operand in operands:
        if type(operand) is Option and isinstance(value, (*CONSTANTS, Option)):
            given = [each for each in (value, *operands) if type(each) is Option]
            names = dict.fromkeys(name for each in given for name in each.text.split(", "))
            known = value.default if type(value) is Option else value
            return Option(0, ", ".join(names), known, known is not None, said=operand.said)
    return value


class Choice:
    """One of several values; which one is not known."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Object, ...]) -> None:
        self.options = options

    def __repr__(self) -> str:
        return f"Choice{self.options!r}"


class External:
    """Something of a module whose source is not at hand, by its dotted name (`torch.bfloat16`)."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, External) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"External({self.name})"


class Instance:
    """An object of a known class. Fields that nobody wrote are missing from `writes`; `made` is the call."""

    __slots__ = ("born", "cls", "fields", "made", "writes")

    def __init__(self, cls: ClassObject | Choice | External, born: int, made: Write | None = None) -> None:
        self.cls = cls
        self.born = born
        self.made = made
        self.fields: dict[Any, Object] = {}
        self.writes: dict[Any, Any] = {}

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
        """Where the elements stand in the data that they were loaded from; nothing once there are other elements."""
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
    """What `iter`, `zip`, `map` or a generator expression gives: the elements that nobody has taken yet.

    `error` is what the evaluation of a further element raises; `walked` are the lists that it walks over, each with the
    elements that it had: Python looks at them only when an element is asked for.
    """

    __slots__ = ("error", "walked")

    def __init__(self, items: list[Object] | None, born: int, error: Exception | None = None) -> None:
        super().__init__(items, born)
        self.error = error
        self.walked: list[tuple[ListObject, Any]] = []

    @property
    def is_stale(self) -> bool:
        """Whether a list that it walks over was changed since."""
        return any(walked.items is not items for walked, items in self.walked)


class DictObject:
    """A dictionary with constant keys. Where `writes` has HAZY, it may hold further or other entries.

    `view_of` is the unknown object whose attributes its entries are: `vars(that)`.
    """

    __slots__ = ("born", "fields", "made", "view_of", "writes")

    def __init__(self, fields: dict[Any, Object], born: int) -> None:
        self.fields = fields
        self.writes: dict[Any, Any] = {}
        self.born = born
        self.made: Write | None = None
        self.view_of: Unknown | None = None

    def __repr__(self) -> str:
        return f"Dict({self.fields!r})"


class Signature:
    """What binding the arguments of a call asks of a function's parameters: the names of those that take an argument by
    position, by name, and of all; `rest` is that of `*args`.
    """

    __slots__ = ("named", "parameters", "positional", "rest")

    def __init__(self, arguments: ast.arguments) -> None:
        keyword_only = [each.arg for each in arguments.kwonlyargs]
        self.positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        self.named = frozenset((*self.positional[len(arguments.posonlyargs) :], *keyword_only))
        self.parameters = (*self.positional, *keyword_only)
        self.rest = None if arguments.vararg is None else arguments.vararg.arg


class Function:
    """A function of the program: its definition, the module it belongs to, and the names it closes over."""

    __slots__ = (
        "_constant", "_signature", "closure", "cls", "defaults", "is_async", "is_generator", "module", "name", "node",
        "unwrapped",
    )  # fmt: skip

    def __init__(self, node: Any, module: Module, closure: Any, name: str, cls: ClassObject | None = None) -> None:
        self.node = node
        self.module = module
        self.closure = closure
        self.name = name
        self.cls = cls
        self.defaults: dict[str, Object] = {}
        self.is_generator: bool | None = None
        self.is_async = isinstance(node, ast.AsyncFunctionDef)
        self.unwrapped: Object = None
        self._constant: Object = UNREAD
        self._signature: Signature | None = None

    def __repr__(self) -> str:
        return f"Function({self.name})"

    @property
    def signature(self) -> Signature:
        """Its parameters."""
        if self._signature is None:
            self._signature = Signature(self.node.args)
        return self._signature

    @property
    def constant(self) -> Object:
        """What a function returns that does nothing but return a constant; MISSING for any other."""
        if self._constant is UNREAD:
            self._constant = _constant_body(self.node)
        return self._constant


def _constant_body(node: Any) -> Object:
    body = node.body
    if not isinstance(node, ast.FunctionDef) or len(body) > 2:
        return MISSING
    last = body[-1]
    if len(body) == 2 and not (type(body[0]) is ast.Expr and type(body[0].value) is ast.Constant):
        return MISSING
    return last.value.value if type(last) is ast.Return and type(last.value) is ast.Constant else MISSING


class Bound:
    """A method with its object, or a built-in method by name."""

    __slots__ = ("function", "owner")

    def __init__(self, function: Object, owner: Object) -> None:
        self.function = function
        self.owner = owner


class Partial:
    """`functools.partial(function, *arguments, **keywords)`; a `partialmethod` where it is a `method`.

    `made` is that call, with the frame that it stands in.
    """

    __slots__ = ("arguments", "function", "keywords", "made", "method")

    def __init__(
        self,
        function: Object,
        arguments: list[Object],
        keywords: dict[str, Object],
        made: tuple[Any, Any] | None = None,
        *,
        method: bool = False,
    ) -> None:
        self.method = method
        self.function = function
        self.arguments = arguments
        self.keywords = keywords
        self.made = made


class Descriptor:
    """`property`, `staticmethod` or `classmethod` around a function."""

    __slots__ = ("function", "kind", "setter")

    def __init__(self, kind: str, function: Object, setter: Object = None) -> None:
        self.kind = kind
        self.function = function
        self.setter = setter


class Native:
    """A function that the evaluator itself provides (a built-in, or a modelled function of the standard library)."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Object]) -> None:
        self.name = name
        self.call = call

    def __repr__(self) -> str:
        return f"Native({self.name})"


class EnumMember:
    """A member of an enumeration."""

    __slots__ = ("cls", "name", "value")

    def __init__(self, cls: ClassObject, name: str, value: Object) -> None:
        self.cls = cls
        self.name = name
        self.value = value

    def __repr__(self) -> str:
        return f"EnumMember({self.name})"


class Super:
    """`super()`: attribute look-up that starts behind a class."""

    __slots__ = ("after", "owner")

    def __init__(self, after: Object, owner: Object) -> None:
        self.after = after
        self.owner = owner


CONSTANTS = (type(None), bool, int, float, str, bytes, complex, type(...))


def is_constant(value: Object) -> bool:
    """True for a value that stands for itself, down to the last element."""
    if isinstance(value, CONSTANTS):
        return True
    return isinstance(value, (tuple, frozenset)) and all(is_constant(item) for item in value)


Kind = TypeVar("Kind")


def all_are(values: Sequence[Object], kind: type[Kind]) -> TypeGuard[Sequence[Kind]]:
    """Whether all values are of one of Python's own types."""
    return all(isinstance(value, kind) for value in values)


SYMBOLS = (CWD, "<DIR:")
"""How the symbols in a text begin; `<DIR:3>` stands for a folder of the tree that is read (see state/folders.py)."""


def is_symbolic(*values: Object) -> bool:
    """Whether a text has a part that stands for something only known when the program runs."""
    return any(isinstance(value, str) and "<" in value and (CWD in value or "<DIR:" in value) for value in values)
