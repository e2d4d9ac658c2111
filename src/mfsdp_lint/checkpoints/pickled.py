"""A pickle as data: what it would make is told; nothing is imported, called or made.

torch.distributed.checkpoint pickles the names and places of all tensors (`.metadata`). Unpickling runs what the file
says. Here the stack machine of the format is followed with plain data: a class or function is its name, a call of one
is a `PickledCall` with the arguments.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mfsdp_lint.core.records import dataclass, field

MOST_STEPS = 2_000_000
"""About a second."""


class Damaged(ValueError):
    """An error: the data is no pickle, or is cut off."""


class TooLong(ValueError):
    """A pickle with more steps than are followed. `texts` are those that were met so far."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        super().__init__("it has too many parts to be looked at to its end")
        self.texts = texts


@dataclass(frozen=True, slots=True)
class Named:
    """A class or a function: its module and name."""

    module: str
    name: str


@dataclass(slots=True)
class PickledCall:
    """The result of a call that is not made: its function, its arguments, and the state that is set afterwards."""

    of: object
    arguments: object = ()
    state: object = None


@dataclass(slots=True)
class PickledDict:
    """A dictionary; its keys may be anything."""

    items: list[tuple[object, object]] = field(default_factory=list)

    def get(self, key: str) -> object:
        """Return the last value of a key that is text; None where there is none."""
        return next((value for name, value in reversed(self.items) if type(name) is str and name == key), None)


def read(data: bytes, most: int = MOST_STEPS) -> object:
    """Read a pickle as texts, numbers, lists, tuples, and the classes above. Raises Damaged and TooLong."""
    machine = _Machine()
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if number == most:
                raise TooLong(tuple(each for each in machine.memo.values() if type(each) is str))
            machine.take(opcode.name, argument)
    except TooLong:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise Damaged(f"it is damaged ({type(error).__name__})") from error
    if machine.result is _NOTHING:
        raise Damaged("it ends too early")
    return machine.result


_NOTHING = object()
_MARK = object()


class _Machine:
    """The stack of a pickle, and what it keeps for later."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.result: object = _NOTHING

    def take(self, name: str, argument: Any) -> None:
        """Execute one step. Raises ValueError for a step that checkpoints do not use."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name]())
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in ("PROTO", "FRAME"):
            raise ValueError(name)

    def since_mark(self) -> list[Any]:
        """Take off and return the values since the last mark; the mark is removed as well."""
        position = len(self.stack) - 1
        while self.stack[position] is not _MARK:
            position -= 1
            if position < 0:
                raise ValueError("no mark")
        found = self.stack[position + 1 :]
        del self.stack[position:]
        return found

    def last(self, number: int) -> tuple[Any, ...]:
        """Take off and return the last `number` values."""
        if len(self.stack) < number:
            raise ValueError("too few")
        found = tuple(self.stack[-number:])
        del self.stack[-number:]
        return found

    def keep(self, argument: Any) -> None:
        self.memo[len(self.memo) if argument is None else argument] = self.stack[-1]

    def kept(self, argument: Any) -> None:
        self.stack.append(self.memo[argument])

    def named(self, argument: Any) -> None:
        if argument is None:
            module, name = self.last(2)
        else:
            module, _, name = argument.partition(" ")
        if not (type(module) is str and type(name) is str):
            raise ValueError("a name is text")
        self.stack.append(Named(module, name))

    def built(self, _: Any) -> None:
        (state,) = self.last(1)
        owner = self.stack[-1]
        if isinstance(owner, PickledCall):
            owner.state = state

    def added(self, items: list[Any]) -> None:
        owner = self.stack[-1]
        if isinstance(owner, list):
            owner.extend(items)
        elif not isinstance(owner, PickledCall):
            raise ValueError("no list")

    def entered(self, items: list[Any]) -> None:
        if len(items) % 2:
            raise ValueError("a key without a value")
        owner = self.stack[-1]
        if isinstance(owner, PickledDict):
            owner.items.extend(zip(items[::2], items[1::2], strict=True))
        elif not isinstance(owner, PickledCall):
            raise ValueError("no table")

    def new_dict(self, _: Any) -> None:
        items = self.since_mark()
        self.stack.append(PickledDict())
        self.entered(items)

    def stop(self, _: Any) -> None:
        (self.result,) = self.last(1)


_VALUES = frozenset(
    {
        *("INT", "LONG", "FLOAT", "BINFLOAT", "UNICODE", "STRING", "BININT", "BININT1", "BININT2", "LONG1", "LONG4"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BINSTRING"),
        "SHORT_BINSTRING",
    }
)
_CONSTANTS: Mapping[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_SET"), list),
    "EMPTY_DICT": PickledDict,
    "MARK": lambda: _MARK,
}
_STEPS: Mapping[str, Callable[[_Machine, Any], object]] = {
    **dict.fromkeys(("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"), _Machine.keep),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.kept),
    "POP": lambda machine, _: machine.last(1),
    "POP_MARK": lambda machine, _: machine.since_mark(),
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.since_mark())),
    "TUPLE1": lambda machine, _: machine.stack.append(machine.last(1)),
    "TUPLE2": lambda machine, _: machine.stack.append(machine.last(2)),
    "TUPLE3": lambda machine, _: machine.stack.append(machine.last(3)),
    **dict.fromkeys(("LIST", "FROZENSET"), lambda machine, _: machine.stack.append(machine.since_mark())),
    "DICT": _Machine.new_dict,
    "APPEND": lambda machine, _: machine.added(list(machine.last(1))),
    **dict.fromkeys(("APPENDS", "ADDITEMS"), lambda machine, _: machine.added(machine.since_mark())),
    "SETITEM": lambda machine, _: machine.entered(list(machine.last(2))),
    "SETITEMS": lambda machine, _: machine.entered(machine.since_mark()),
    **dict.fromkeys(("GLOBAL", "STACK_GLOBAL"), _Machine.named),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), lambda machine, _: machine.stack.append(PickledCall(*machine.last(2)))),
    "NEWOBJ_EX": lambda machine, _: machine.stack.append(PickledCall(*machine.last(3)[:2])),
    "BUILD": _Machine.built,
    "STOP": _Machine.stop,
}


def entries(value: object) -> Iterator[tuple[object, object]]:
    """Yield the entries of a dictionary, or of the dictionary that is an object's state; none for other values."""
    table = value.state if isinstance(value, PickledCall) else value
    if isinstance(table, PickledDict):
        yield from table.items
