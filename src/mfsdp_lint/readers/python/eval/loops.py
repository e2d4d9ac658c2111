"""Loops.

Where the elements or the number of turns are not known, what the body writes may be anything afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign
from mfsdp_lint.readers.python.eval.branches import known_truth, undecided
from mfsdp_lint.readers.python.eval.classes import special
from mfsdp_lint.readers.python.eval.containers import present
from mfsdp_lint.readers.python.eval.iteration import LONGEST, called, iterate, walked
from mfsdp_lint.readers.python.eval.unfollowed import why_unknown
from mfsdp_lint.readers.python.state.calling import (
    BREAK,
    CONTINUE,
    GeneratorCall,
    Leave,
    Signal,
    evaluate,
    head,
    run_block,
)
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, Raised
from mfsdp_lint.readers.python.state.truth import join, narrow
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, OBSTACLE
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    Frame,
    Instance,
    IteratorObject,
    ListObject,
    Object,
    is_object,
    uncertain,
)

LOOP_LIMIT = 20_000

CHOICES_WALKED = 4

ITEM = "<item>"
"""A local name that no program can write."""


def run_for(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    return _over(interp, node, interp.settle(evaluate(interp, node.iter, frame)), frame)


def _over_unknown(interp: Interpreter, node: Any, frame: Frame, iterable: Object = None) -> Signal:
    """Run a loop over elements that are not known, because of what made the iterable unknown."""
    with interp.blaming(why_unknown(iterable, node.iter, frame) or interp.obstacle):
        return _unknown_turns(interp, node, frame, lambda: assign(interp, node.target, interp.unknown(), node, frame))


def _over(interp: Interpreter, node: Any, iterable: Object, frame: Frame) -> Signal:
    if isinstance(iterable, GeneratorCall) and iterable.state == "new":
        return _for_generator(interp, node, iterable, frame)
    if isinstance(iterable, Choice) and len(iterable.options) <= CHOICES_WALKED:
        return _over_one_of(interp, node, iterable, 0, frame)
    if isinstance(iterable, Instance):
        own = walked(interp, iterable, frame)
        if own is not iterable:
            return _over(interp, node, own, frame)
        if special(interp, iterable, "__next__") is not None:
            return _over_iterator(interp, node, iterable, frame)
    items = iterable.items if isinstance(iterable, ListObject) else iterate(interp, iterable, frame)
    if items is None or (isinstance(iterable, IteratorObject) and iterable.is_stale):
        return _over_unknown(interp, node, frame, iterable)
    if isinstance(iterable, IteratorObject):
        # What a loop that is left early has not taken is not worked out.
        interp.put(iterable, "items", None)
    position = 0
    while position < len(items):
        item = items[position]
        frame.bindings[node] = position
        position += 1
        if uncertain(item):
            signal = _maybe_turn(interp, node, present(interp, item), frame)
        else:
            signal = _turn(interp, node, item, frame)
        if signal is BREAK:
            return None
        if signal is not None:
            return signal
        if type(iterable) is ListObject and iterable.items is not items:
            # Python walks the list itself, as it is by now.
            items = iterable.items
            if items is None or len(items) > LONGEST:
                return _over_unknown(interp, node, frame)
        if isinstance(iterable, IteratorObject) and iterable.is_stale:
            return _over_unknown(interp, node, frame)
    if isinstance(iterable, IteratorObject):
        interp.put(iterable, "items", [])
        if iterable.error is not None:
            raise iterable.error
    return run_block(interp, node.orelse, frame)


def _over_iterator(interp: Interpreter, node: Any, iterator: Instance, frame: Frame) -> Signal:
    """Run a loop over an object with a `__next__` of the program's: it is asked before each turn."""
    for _ in range(LONGEST):
        try:
            item = called(interp, iterator, "__next__", node, frame)
        except Raised as error:
            if error.name != "StopIteration":
                raise
            return run_block(interp, node.orelse, frame)
        signal = _turn(interp, node, item, frame)
        if signal is not None:
            return None if signal is BREAK else signal
    raise CannotJoin


def _over_one_of(interp: Interpreter, node: Any, iterable: Choice, first: int, frame: Frame) -> Signal:
    """Run a loop over one of several iterables, from the first that is still meant on: each is walked on its own."""
    option, behind = iterable.options[first], len(iterable.options) - first - 1

    def walk() -> Signal:
        narrow(interp, iterable, [option])
        return _over(interp, node, option, frame)

    def name(number: int) -> str:
        by = iterable.picked_by(iterable.options[number])
        if by is None:
            return f"`{head(node)}` walks choice {number + 1} of {len(iterable.options)}"
        return by.words

    if not behind:
        return walk()
    return undecided(
        interp,
        interp.unknown(ast.unparse(node.iter), not_none=True),
        lambda: name(first),
        walk,
        lambda: _over_one_of(interp, node, iterable, first + 1, frame),
        (lambda: name(first + 1)) if behind == 1 else None,
    )


def _turn(interp: Interpreter, node: Any, item: Object, frame: Frame) -> Signal:
    interp.step()
    assign(interp, node.target, item, node, frame)
    signal = run_block(interp, node.body, frame)
    return None if signal is CONTINUE else signal


def _maybe_turn(interp: Interpreter, node: Any, item: Object, frame: Frame) -> Signal:
    question = interp.unknown("element", not_none=True)
    return undecided(
        interp,
        question,
        lambda: f"`{head(node)}` meets an optional element",
        lambda: _turn(interp, node, item, frame),
        lambda: None,
    )


def _for_generator(interp: Interpreter, node: Any, generator: GeneratorCall, frame: Frame) -> Signal:
    def turn(item: Object) -> Object:
        interp.step()
        frame.bindings[node] = interp.yielded
        assign(interp, node.target, item, node, frame)
        signal = run_block(interp, node.body, frame)
        if signal is not None and signal is not CONTINUE:
            raise Leave(signal, generator)
        return None

    mark = len(interp.path.journal)
    try:
        generator.run(turn)
    except CannotJoin:
        interp.rollback(mark)
        for value in list(generator.frame.fields.values()):
            forget_reachable(interp, value)
        return _over_unknown(interp, node, frame)
    except Leave as left:
        if left.loop is not generator:
            raise
        return None if left.signal is BREAK else left.signal
    if not generator.left_by:
        return run_block(interp, node.orelse, frame)
    results = [signal[1] for signal in generator.left_by if signal[0] == "return"]
    outcome = interp.unknown("loop")

    def ended() -> Signal:
        return _behind(interp, node, frame)

    if not results:
        return ended()
    text = f"line {node.lineno} returns"
    return undecided(interp, outcome, lambda: text, lambda: ("return", join(interp, results)), ended)


def run_while(interp: Interpreter, node: ast.While, frame: Frame) -> Signal:
    def again() -> None:
        evaluate(interp, node.test, frame)

    for _ in range(LOOP_LIMIT):
        interp.step()
        value = evaluate(interp, node.test, frame)
        known = known_truth(interp, value, node.test, frame)
        if known is None:
            return _unknown_turns(interp, node, frame, again)
        if not known:
            return run_block(interp, node.orelse, frame)
        signal = run_block(interp, node.body, frame)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
    return _unknown_turns(interp, node, frame, again)


def _unknown_turns(interp: Interpreter, node: Any, frame: Frame, start: Callable[[], None]) -> Signal:
    """Run a loop whose number of turns is not known: places that its body writes may hold anything afterwards.

    The body is run twice, the second time on the values that the first left unknown, to find all it can write.
    """
    mark = len(interp.path.journal)
    leaves = False
    results: list[Object] = []
    for _ in range(2):
        turn = len(interp.path.journal)
        interp.path.trial += 1
        try:
            start()
            signal = run_block(interp, node.body, frame)
            if signal is not None and signal[0] == "return":
                leaves = True
                results.append(signal[1])
        except Raised:
            pass
        except Leave as left:
            # The loop runs in a generator, and whoever walks over that may leave here.
            left.loop.left_by.append(left.signal)
        except CannotJoin:
            if frame.on_yield is not None:
                raise
            _havoc_reach(interp, node, frame)
            returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
            leaves = leaves or bool(returned)
            results += [
                (evaluate(interp, value, frame) if isinstance(value, (ast.Name, ast.Constant)) else interp.unknown())
                for value in returned
            ]
        finally:
            interp.path.trial -= 1
        _havoc_places(interp, turn)
    _havoc_places(interp, mark)
    if leaves:
        outcome = interp.unknown("loop")
        return undecided(
            interp,
            outcome,
            lambda: f"`{head(node)}` returns",
            lambda: ("return", join(interp, results)),
            lambda: _behind(interp, node, frame),
        )
    return _behind(interp, node, frame)


def yield_unknown(interp: Interpreter, node: ast.YieldFrom, item: Object, frame: Frame) -> Object:
    """Run `yield from` over an unknown number of elements, each of which may be `item`."""
    name = ast.Name(ITEM, ast.Load())
    loop = ast.For(name, node.value, [ast.Expr(ast.Yield(name))], [])
    _unknown_turns(interp, loop, frame, lambda: interp.put(frame, name.id, item))
    return interp.unknown("yield")


def _behind(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    """Run the `else` of a loop whose number of turns is not known."""
    if not node.orelse:
        return None
    if not any(isinstance(inner, ast.Break) for statement in node.body for inner in ast.walk(statement)):
        return run_block(interp, node.orelse, frame)
    outcome = interp.unknown("loop")
    text = f"`{head(node)}` runs to its end"
    return undecided(interp, outcome, lambda: text, lambda: run_block(interp, node.orelse, frame), lambda: None)


def _havoc_places(interp: Interpreter, mark: int) -> None:
    """Forget the value of every place that was written since `mark`."""
    before = {(id(fields), key): old for _, fields, key, old in reversed(interp.path.journal[mark:])}
    for place, (owner, fields, key, value) in interp.changes(mark).items():
        if owner is interp.path.facts or key is MAY_HAVE_CHANGED or fields is getattr(owner, "writes", None):
            continue
        if owner is interp.path.launches:
            continue
        if isinstance(value, (Instance, DictObject, ListObject)):
            forget_reachable(interp, value)
        new: Any = None if key == "items" and isinstance(owner, ListObject) else interp.unknown(str(key))
        if isinstance(owner, Frame):
            # What is written to it behind the loop may be written to any of these.
            new = join(interp, [*_objects(before[place]), *_objects(value), new])
        if isinstance(owner, (DictObject, Instance)) and (value is MISSING or before[place] is MISSING):
            new = join(interp, [new, MISSING])
        interp.place(owner, fields, key, new)
        if isinstance(owner, DictObject):
            interp.record(owner, MAY_HAVE_CHANGED, True)
            interp.record(owner, OBSTACLE, interp.obstacle)
        elif new is None:
            interp.put(owner, OBSTACLE, interp.obstacle)


def _objects(value: Object) -> list[Object]:
    """List the objects that a name with this value may refer to."""
    options = value.options if isinstance(value, Choice) else (value,)
    return [one for one in options if isinstance(one, (DictObject, ListObject)) or is_object(one)]


def _havoc_reach(interp: Interpreter, node: Any, frame: Frame) -> None:
    """Forget all that the names of a body and its module reach: the body was not followed and may have changed it."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Name):
            continue
        here: Frame | None = frame
        while here is not None and inner.id not in here.fields:
            here = here.enclosing
        if isinstance(inner.ctx, ast.Store):
            interp.put(frame.outer.get(inner.id, frame), inner.id, interp.unknown(inner.id))
        elif here is not None and here.fields is not frame.module.fields:
            forget_reachable(interp, here.fields[inner.id])
    for value in list(frame.module.fields.values()):
        if isinstance(value, (Instance, DictObject, ListObject)):
            forget_reachable(interp, value)
    forget_reachable(interp, interp.path.environment)
