"""Tables of the functions that call each kind of value, evaluate each kind of expression, run each kind of statement.

The models of library functions are such a table, too, by their dotted names; the modules of library/ fill it. Nearly
every part of the evaluator calls something (an operator its `__eq__`, a dictionary its factory), and calls need
nearly every part. So the parts ask here, and the modules of eval/, which lie above them all, fill the tables.

Blocks of statements run by these tables: in order, as a module's or a class's body, and as that of a generator or of an
asynchronous function, which runs when somebody asks for its elements or its result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CALL_STEPS, MODULE_STEPS, CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import MISSING, Frame, Module, Native, Object, Suspended

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


NOTICED: dict[str, Callable[[Interpreter, Call], None]] = {}
"""Observers of calls by the dotted names of the functions: they see a call before it is evaluated like any other."""


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


class GeneratorCall(Suspended):
    """A call of a generator function: its body runs when something iterates over it (or enters it with `with`).

    It runs once. What is left of one that was not run to its end is not known. `left_by` are the signals (see
    Signal) by which a loop over it may have been left from within a loop of its own that could not be followed.
    """

    __slots__ = ("body", "frame", "interp", "left_by", "managed", "returned")

    def __init__(self, interp: Interpreter, frame: Frame, body: Callable[[Callable[[Object], Object]], Object]) -> None:
        super().__init__(interp.tick())
        self.interp = interp
        self.frame = frame
        self.body = body
        self.fields["state"] = "new"
        self.managed = False
        self.left_by: list[Any] = []
        self.returned: Object = None

    @property
    def state(self) -> str:
        """ "new", "open" (begun and left) or "done"."""
        state = self.fields["state"]
        return state if isinstance(state, str) else "open"

    def run(self, on_yield: Callable[[Object], Object]) -> None:
        """Run the body, calling `on_yield` with every element."""
        if self.state == "new":
            self.interp.put(self, "state", "open")
            self.returned = self.body(on_yield)
            self.interp.put(self, "state", "done")

    def first(self) -> Object:
        """Return the next element: known of a new generator only; MISSING where there is none."""
        if self.state == "open":
            return self.interp.unknown()
        trial = self.interp.path.trial

        def stop(value: Object) -> Object:
            # Which element is the first is open where a branch before it is.
            raise _FirstElement(value if self.interp.path.trial == trial else self.interp.unknown())

        try:
            self.run(stop)
        except _FirstElement as found:
            return found.value
        return MISSING


class Coroutine(Suspended):
    """A call of an asynchronous function: its body runs once, when something awaits it. `given` are its arguments."""

    __slots__ = ("body", "given", "interp")

    def __init__(self, interp: Interpreter, body: Callable[[], Object], given: tuple[Object, ...] = ()) -> None:
        super().__init__(interp.tick())
        self.interp = interp
        self.given = given
        self.body = body

    def result(self) -> Object:
        """Return the result of the function."""
        if "result" not in self.fields:
            self.interp.put(self, "result", self.interp.unknown("a coroutine that awaits itself"))
            self.interp.put(self, "result", self.body())
        return self.fields["result"]


class _FirstElement(BaseException):
    def __init__(self, value: Object) -> None:
        super().__init__()
        self.value = value


def awaited(interp: Interpreter, value: Object) -> Object:
    """Evaluate `await value`."""
    value = interp.settle(value)
    return value.result() if isinstance(value, Coroutine) else interp.unknown("await")


Made = TypeVar("Made")

BREAK = ("break", None)

CONTINUE = ("continue", None)


class Leave(Exception):
    """A loop or `with` body that runs inside a generator leaves it."""

    def __init__(self, signal: Signal, loop: GeneratorCall) -> None:
        super().__init__()
        self.signal = signal
        self.loop = loop


def run_isolated(interp: Interpreter, body: list[ast.stmt], frame: Frame) -> None:
    """Run a module's or class's body outside of any recipe: what it makes is shared, and nothing undoes it.

    A statement that cannot be run, or one of a class that takes more steps than a call may, leaves the names it would
    bind unknown; the others run on.
    """

    with interp.aside(frame.module):
        path = interp.path
        for statement in body:
            if frame.is_class:
                path.limit = min(path.steps + CALL_STEPS, MODULE_STEPS)
            try:
                run_block(interp, [statement], frame)
            except Raised:
                for name in bound_names(statement):
                    frame.fields.setdefault(name, interp.unknown(name))
            except (CannotJoin, OutOfSteps, RecursionError):
                for name in bound_names(statement):
                    frame.fields[name] = interp.unknown(name)


def bound_names(statement: ast.AST) -> list[str]:
    """List the names that a statement binds, wherever in it."""
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return names


def isolated(interp: Interpreter, make: Callable[[], Made], module: Module | None = None) -> Made:
    """Evaluate something outside of any recipe: what it makes is shared, and nothing undoes it.

    It is part of the top level of `module`, of the one at hand where none is named.
    """
    with interp.aside(module):
        return make()


def head(node: ast.stmt) -> str:
    """Return the first line of a statement: its words describe a condition, never its line number, which edits move."""
    return ast.unparse(node).partition("\n")[0]
