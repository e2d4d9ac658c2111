"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign
from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.containers import hashable, make_set, present
from mfsdp_lint.readers.python.eval.iteration import iterate, uncertain
from mfsdp_lint.readers.python.state.generators import GeneratorCall
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised, kept
from mfsdp_lint.readers.python.values.classes import plain
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, DictObject, IteratorObject, ListObject, Object

COMPREHENSION = "<comprehension>"
"""The name of the frame that a comprehension has for its own names."""


def comprehension(machine: Machine, node: Any, frame: Frame) -> Object:
    """Return the value of a comprehension or generator expression."""
    found: list[Object] = []
    inner = Frame(frame.module, COMPREHENSION, frame, frame.caller, frame.node, machine.tick())
    mark, born = len(machine.path.journal), machine.clock + 1
    try:
        exact = _generate(machine, node, node.generators, inner, found.append)
    except Raised as error:
        if not isinstance(node, ast.GeneratorExp):
            raise
        if machine.touched_older(mark, born):
            return _later(machine, node, inner, mark)
        return IteratorObject(found, machine.tick(), kept(error))
    if isinstance(node, ast.GeneratorExp):
        if machine.touched_older(mark, born) and exact and not any(map(uncertain, found)):
            return _later(machine, node, inner, mark)
        return IteratorObject(found if exact else None, machine.tick())
    if isinstance(node, ast.DictComp):
        return _dict_from_pairs(machine, found, exact)
    items: Any = found if exact else None
    if isinstance(node, ast.SetComp):
        return make_set(machine, items)
    return ListObject(items, machine.tick())


def _later(machine: Machine, node: ast.GeneratorExp, inner: Frame, mark: int) -> GeneratorCall:
    """Defer a generator expression whose elements change something when made, until they are asked for."""
    machine.rollback(mark)

    def run(on_yield: Callable[[Object], Object]) -> None:
        _generate(machine, node, node.generators, inner, on_yield)

    return GeneratorCall(machine, inner, run)


def _dict_from_pairs(machine: Machine, pairs: list[Any], exact: bool) -> Object:
    result = DictObject({}, machine.tick())
    for key, value in pairs:
        key = plain(machine.settle(key))
        if not hashable(key):
            exact = False
        elif uncertain(value) and key in result.fields:
            result.fields[key] = join(machine, [present(machine, value), result.fields[key]])
        else:
            result.fields[key] = value
    if not exact:
        result.writes[HAZY] = True
        for key in result.fields:
            result.fields[key] = machine.unknown(str(key))
    return result


def _generate(
    machine: Machine,
    node: Any,
    generators: list[ast.comprehension],
    frame: Frame,
    found: Callable[[Object], Object],
    maybe: bool = False,
) -> bool:
    """Collect the elements of a comprehension; whether that is all of them. `maybe`: they may also be missing."""
    if not generators:
        machine.step()
        found(_element(machine, node, frame, maybe))
        return True
    first, rest = generators[0], generators[1:]
    iterable = machine.settle(evaluate(machine, first.iter, frame))
    items = iterable.items if type(iterable) is ListObject else iterate(machine, iterable, frame)
    if items is None:
        return False
    exact = True
    for position, item in enumerate(items):
        machine.step()
        frame.bound[first] = position
        # One that may be missing is another value once it is taken to be there.
        taken = present(machine, item) if uncertain(item) else item
        assign(machine, first.target, taken, node, frame)
        keep: bool | None = True
        for test in first.ifs:
            answer = known_truth(machine, evaluate(machine, test, frame), test, frame)
            keep = answer if answer is not None else None if keep else keep
            if answer is False:
                break
        if keep is not False:
            exact = _generate(machine, node, rest, frame, found, maybe or taken is not item or keep is None) and exact
    return exact


def _element(machine: Machine, node: Any, frame: Frame, maybe: bool) -> Object:
    key = evaluate(machine, node.key, frame) if isinstance(node, ast.DictComp) else None
    value = evaluate(machine, node.value if isinstance(node, ast.DictComp) else node.elt, frame)
    if maybe:
        value = Choice((*(value.options if isinstance(value, Choice) else (value,)), MISSING))
    return (key, value) if isinstance(node, ast.DictComp) else value
