"""Frames: the local names of a call; and the call itself: its arguments and its place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Object

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.values.classes import ClassObject


class Frame:
    """The local names of one call (or of a module's top level, or of a class body), and where it was called from.

    `bindings` has for each name the values that it had, each with the expression or statement that gave it, and
    with the frame that ran that where it is another; and for each loop, which turn it is in.
    """

    __slots__ = (
        "bindings",
        "born",
        "caller",
        "cls",
        "code",
        "enclosing",
        "fields",
        "function",
        "handling",
        "is_class",
        "module",
        "node",
        "on_yield",
        "outer",
    )

    def __init__(
        self,
        module: Module,
        function: str = "",
        enclosing: Frame | None = None,
        caller: Frame | None = None,
        node: ast.AST | None = None,
        born: int = 0,
    ) -> None:
        self.module = module
        self.function = function
        self.enclosing = enclosing
        self.caller = caller
        self.node = node
        self.born = born
        self.fields: dict[Any, Any] = {}
        self.bindings: dict[Any, Any] = {}
        self.cls: ClassObject | None = None
        self.code: Object = None
        self.is_class = False
        self.handling: Any = None
        self.on_yield: Callable[[Object], Object] | None = None
        self.outer: dict[str, Any] = {}


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
        return Call(arguments, {} if keywords is None else keywords, self.node, self.frame)
