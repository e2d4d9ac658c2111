"""Exceptions and `with` blocks."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.blocks import head
from mfsdp_lint.readers.python.eval.branches import known_truth, perhaps, undecided
from mfsdp_lint.readers.python.eval.classes import class_names
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.generators import GeneratorCall
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import Signal, evaluate, run_block
from mfsdp_lint.readers.python.state.outcomes import Raised, kept
from mfsdp_lint.readers.python.state.paths import Place
from mfsdp_lint.readers.python.state.truth import decide, truth
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import MISSING, External, Instance, Native, Object, Partial, Unknown


def run_try(machine: Machine, node: Any, frame: Frame) -> Signal:
    try:
        signal = _guarded(machine, node, frame)
    except Raised:
        final = run_block(machine, node.finalbody, frame)
        if final is not None:
            return final
        raise
    final = run_block(machine, node.finalbody, frame)
    return final if final is not None else signal


def _guarded(machine: Machine, node: Any, frame: Frame) -> Signal:
    before = machine.doubts
    doubtful = since = -1
    signal: Signal = None
    error: Raised | None = None
    outermost = machine.path.written is None
    written: list[Place] = machine.path.written if machine.path.written is not None else []
    machine.path.written = written
    try:
        for statement in node.body:
            mark, behind = len(machine.path.journal), len(written)
            try:
                signal = run_block(machine, [statement], frame)
            except Raised as raised:
                error = kept(raised)
            if doubtful < 0 and machine.doubts != before:
                doubtful, since = mark, behind
            if signal is not None or error is not None:
                break
    finally:
        if outermost:
            machine.path.written = None

    def through() -> Signal:
        if error is None:
            return run_block(machine, node.orelse, frame) if signal is None else signal
        handler = _matching(machine, node.handlers, error, frame)
        if handler is None:
            raise error
        return _handle(machine, handler, error, frame)

    if doubtful < 0 or not node.handlers:
        return through()
    return _maybe_handled(machine, node, frame, doubtful, written[since:], through)


def _maybe_handled(
    machine: Machine, node: Any, frame: Frame, mark: int, written: list[Place], through: Callable[[], Signal]
) -> Signal:
    """Handle a body that did something that may raise: either it ran through, or a handler ran.

    `written` holds all writes of the body: those on abandoned paths as well, and those that were overwritten.
    """
    done = machine.changes(mark)
    machine.rollback(mark)

    def redo(changes: Iterable[Place], certain: bool) -> None:
        for owner, fields, key, value in changes:
            old = fields.get(key, MISSING)
            # Not by `place`: a `try` around this one has it among what was written already.
            machine.path.journal.append((owner, fields, key, old))
            fields[key] = value if certain else perhaps(machine, owner, fields, key, old, value)
            if fields[key] is MISSING:
                del fields[key]

    def ran() -> Signal:
        redo(done.values(), True)
        return through()

    def by(handler: ast.ExceptHandler) -> Signal:
        # It may have been raised before or behind any write of the body.
        redo(written, False)
        return _handle(machine, handler, Raised("Exception", ""), frame)

    outcome = machine.unknown("an exception", not_none=True)
    return undecided(
        machine,
        outcome,
        lambda: f"no exception in `{head(node.body[0])}`",
        ran,
        lambda: _handled(machine, node.handlers, by),
    )


def _handled(machine: Machine, handlers: list[ast.ExceptHandler], by: Callable[[ast.ExceptHandler], Signal]) -> Signal:
    """Run one of several handlers for an exception; which one is not known."""
    if len(handlers) == 1:
        return by(handlers[0])
    which = machine.unknown("which exception", not_none=True)
    return undecided(
        machine,
        which,
        lambda: f"`{_handled_type(handlers[0])}`",
        lambda: _handled(machine, handlers[:1], by),
        lambda: _handled(machine, handlers[1:], by),
    )


def _handled_type(handler: ast.ExceptHandler) -> str:
    return "except" if handler.type is None else f"except {ast.unparse(handler.type)}"


def _handle(machine: Machine, handler: ast.ExceptHandler, error: Raised, frame: Frame) -> Signal:
    if handler.name:
        known = isinstance(error.value, (Instance, Unknown))
        value = error.value if known else machine.unknown(handler.name, not_none=True)
        machine.put(frame, handler.name, value)
    outer, frame.handling = frame.handling, (handler.name, error)
    try:
        return run_block(machine, handler.body, frame)
    finally:
        frame.handling = outer


CATCH_ALL = {"Exception", "BaseException"}


PARENTS = {
    "FrozenInstanceError": ("AttributeError",),
    "InvalidVersion": ("ValueError",),
    "PackageNotFoundError": ("ModuleNotFoundError", "ImportError"),
}
"""Exceptions of libraries' modules, with what they derive from."""


def _ancestors(name: str) -> set[str]:
    found = getattr(builtins, name, None)
    inherited = [base.__name__ for base in found.__mro__[:-1]] if isinstance(found, type) else []
    return {name, *inherited, *PARENTS.get(name, ())}


def _matching(
    machine: Machine, handlers: list[ast.ExceptHandler], error: Raised, frame: Frame
) -> ast.ExceptHandler | None:
    names = _ancestors(error.name) | CATCH_ALL
    if isinstance(error.value, Instance) and isinstance(error.value.cls, ClassObject):
        for name in class_names(machine, error.value.cls):
            names |= _ancestors(name.rpartition(".")[2])
    for handler in handlers:
        if handler.type is None or names & _caught(machine, handler.type, frame):
            return handler
    return None


def _caught(machine: Machine, node: ast.expr, frame: Frame) -> set[str]:
    """Return the names of the exceptions that a handler is for."""
    spelled = node.elts if isinstance(node, ast.Tuple) else [node]
    found = {ast.unparse(one).rpartition(".")[2] for one in spelled}
    with suppress(Raised):
        value = machine.settle(evaluate(machine, node, frame))
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, (ClassObject, External)):
                found.add(one.name.rpartition(".")[2])
    return found


def run_raise(machine: Machine, node: ast.Raise, frame: Frame) -> Signal:
    if frame.handling is not None and (
        node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == frame.handling[0])
    ):
        raise frame.handling[1]
    if node.exc is None:
        raise Raised("Exception", "re-raised")
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    error = Raised(ast.unparse(target).rpartition(".")[2], "")
    doubts = machine.doubts
    with suppress(Raised):
        error.value = evaluate(machine, node.exc, frame)
    machine.doubts = doubts  # that it raises is certain
    if isinstance(error.value, Instance) and isinstance(error.value.cls, ClassObject):
        error.name = error.value.cls.name
    raise error


def run_assert(machine: Machine, node: ast.Assert, frame: Frame) -> Signal:
    value = evaluate(machine, node.test, frame)
    known = known_truth(machine, value, node.test, frame)
    if known is False:
        raise Raised("AssertionError", "")
    if known is None:
        machine.doubts += 1
        decide(machine, value, True)
    return None


def run_with(machine: Machine, node: Any, frame: Frame) -> Signal:
    return _enter(machine, node, list(node.items), frame)


def _enter(machine: Machine, node: Any, items: list[ast.withitem], frame: Frame) -> Signal:
    if not items:
        return run_block(machine, node.body, frame)
    first, rest = items[0], items[1:]
    manager = evaluate(machine, first.context_expr, frame)
    if isinstance(manager, GeneratorCall):
        return _with_generator(machine, node, first, rest, manager, frame)
    if isinstance(manager, Partial) and getattr(manager.function, "name", "") == "contextlib.suppress":
        return _suppress(machine, node, first, rest, frame)
    value: Object = machine.unknown(ast.unparse(first.context_expr), not_none=False)
    leave: Object = None
    if isinstance(manager, Unknown) and isinstance(manager.fields.get("__enter__"), Native):
        value = invoke(machine, manager.fields["__enter__"], Call([], {}, node, frame))
    if isinstance(manager, Instance) and isinstance(manager.cls, ClassObject):
        value = invoke(machine, get_attribute(machine, manager, "__enter__", None, frame), Call([], {}, node, frame))
        leave = get_attribute(machine, manager, "__exit__", None, frame)
    elif isinstance(manager, Unknown) and isinstance(manager.fields.get("__enter__"), Native):
        value = invoke(machine, manager.fields["__enter__"], Call([], {}, node, frame))
    if first.optional_vars is not None:
        assign(machine, first.optional_vars, value, node, frame)
    if leave is None:
        return _enter(machine, node, rest, frame)
    try:
        signal = _enter(machine, node, rest, frame)
    except Raised as error:
        kind = error.value.cls if isinstance(error.value, Instance) else External(error.name)
        unknown = [machine.unknown("", not_none=True), machine.unknown("", not_none=True)]
        swallowed = truth(machine, invoke(machine, leave, Call([kind, *unknown], {}, node, frame)))
        if swallowed is not False:
            # Where that is not known: a run that goes on swallowed it.
            return None
        raise
    invoke(machine, leave, Call([None, None, None], {}, node, frame))
    return signal


def _suppress(machine: Machine, node: Any, first: ast.withitem, rest: list[ast.withitem], frame: Frame) -> Signal:
    """Run `with contextlib.suppress(...)` as `try: ... except ...: pass`."""
    caught = ast.Tuple(first.context_expr.args, ast.Load()) if isinstance(first.context_expr, ast.Call) else None
    handler = ast.copy_location(ast.ExceptHandler(caught, None, []), first.context_expr)
    body = [ast.copy_location(ast.With(rest, node.body), node)] if rest else node.body
    return _guarded(machine, ast.copy_location(ast.Try(body, [handler], [], []), node), frame)


def _with_generator(
    machine: Machine, node: Any, first: ast.withitem, rest: list[ast.withitem], manager: GeneratorCall, frame: Frame
) -> Signal:
    """Run a `with` block over a @contextmanager function: the block runs where the function yields."""
    result: list[Signal] = [None]

    def body(value: Object) -> Object:
        if first.optional_vars is not None:
            assign(machine, first.optional_vars, value, node, frame)
        result[0] = _enter(machine, node, rest, frame)
        return None

    manager.run(body)
    return result[0]
