"""Tables of the functions that call each kind of value, evaluate each kind of expression, run each kind of statement.

The models of library functions are such a table, too, by their dotted names; the modules of library/ fill it. Nearly
every part of the evaluator calls something (an operator its `__eq__`, a dictionary its factory), and calls need
nearly every part. So the parts ask here, and the modules of eval/, which lie above them all, fill the tables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call, Frame
from mfsdp_lint.readers.python.values.objects import Native, Object

Entry = TypeVar("Entry")


class ByType(dict[type, Entry]):
    """A table of actions for values of each type; a type that has no entry shares that of its nearest base.

    Raises KeyError where no base has one (an entry for `object` is one for all).
    """

    def __missing__(self, kind: type) -> Entry:
        for base in kind.__mro__[1:]:
            if base in self:
                found = self[kind] = self[base]
                return found
        raise KeyError(kind)


Model = Callable[[Interpreter, Call], Object]


LIBRARY: dict[str, Model] = {}
"""The models by the dotted names of the functions."""

BUILTINS: dict[str, Object] = {}
"""The values of Python's own names."""


def models(*names: str) -> Callable[[Model], Model]:
    """Register the model of functions with these dotted names; a name without dot is a built-in."""

    def register(model: Model) -> Model:
        for name in names:
            LIBRARY[name] = model
            if name.startswith("builtins."):
                BUILTINS[name.removeprefix("builtins.")] = Native(name, model)
        return model

    return register


Caller = Callable[[Interpreter, Any, Call], Object]

CALLERS: ByType[Caller] = ByType()
"""Functions that call each kind of value; calls.py fills it."""


def invoke(interp: Interpreter, function: Object, call: Call) -> Object:
    """Evaluate a call of `function`. Raises Raised where the program would."""
    return CALLERS[type(function)](interp, function, call)


Signal = Any
"""How a block ended: None (it ran through) or a tuple that begins with "return", "break" or "continue"."""

EVALUATORS: dict[type, Callable[[Interpreter, Any, Frame], Object]] = {}
"""Functions that evaluate each kind of expression; expressions.py fills it."""

RUNNERS: dict[type, Callable[[Interpreter, Any, Frame], Signal]] = {}
"""Functions that run each kind of statement; statements.py fills it."""


def evaluate(interp: Interpreter, node: ast.expr, frame: Frame) -> Object:
    """Return the value of `node` in `frame`. Raises Raised where Python would raise."""
    return EVALUATORS[type(node)](interp, node, frame)


def run_block(interp: Interpreter, body: list[ast.stmt], frame: Frame) -> Signal:
    """Run statements in order; how they ended."""
    statement = None
    try:
        for statement in body:
            path = interp.path  # (as `Interpreter.step` does, without calling it)
            path.steps += 1
            if path.steps > path.limit:
                raise OutOfSteps
            signal = RUNNERS[type(statement)](interp, statement, frame)
            if signal is not None:
                return signal
    except Raised as error:
        error.passes(frame.module, statement)
        raise
    return None
