"""The local names of one call."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Object


class Frame:
    """The local names of one call (or of a module's top level, or of a class body), and where it was called from.

    `bound` says what bound each name: the values that it had, each with the expression or statement that gave it, and
    with the frame that ran that where it is another; and for each loop, which turn it is in.
    """

    __slots__ = (
        "born",
        "bound",
        "caller",
        "cls",
        "code",
        "enclosing",
        "fields",
        "function",
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
        self.fields: dict[Any, Object] = {}
        self.bound: dict[Any, Any] = {}
        self.cls: Object = None
        self.code: Object = None
        self.is_class = False
        self.on_yield: Any = None
        self.outer: dict[str, Any] = {}


def calls_to(frame: Frame) -> tuple[Any, ...]:
    """The calls that led to a frame, the last one first: in which module and function, and the node that calls."""
    here: Frame | None = frame
    chain = []
    while here is not None and here.node is not None and here.caller is not None:
        chain.append((here.caller.module, here.node, here.caller.function))
        here = here.caller
    return tuple(chain)
