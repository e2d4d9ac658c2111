"""Reductions of many values to a single one: whether any or all hold, their sum, the smallest and the largest."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.iteration import forget_rest, iterate
from mfsdp_lint.readers.python.eval.methods import sort
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.library.computing import settled
from mfsdp_lint.readers.python.state.generators import GeneratorCall
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import (
    IteratorObject,
    Object,
)


@models("builtins.any")
def _any(machine: Machine, call: Call) -> Object:
    return _any_all(machine, call.arguments[0], True, call.node, call.frame)


@models("builtins.all")
def _all(machine: Machine, call: Call) -> Object:
    return _any_all(machine, call.arguments[0], False, call.node, call.frame)


def _any_all(machine: Machine, iterable: Object, wanted: bool, node: Any, frame: Frame) -> Object:
    iterable = machine.settle(iterable)
    if isinstance(iterable, GeneratorCall) and iterable.state == "new":
        return _any_all_made(machine, iterable, wanted, node, frame)
    error = None
    items: list[Object] | None
    if isinstance(iterable, IteratorObject) and iterable.error is not None:
        items, error = iterable.items, iterable.error
    else:
        items = iterate(machine, iterable, frame)
    if items is None:
        return machine.unknown("", not_none=True)
    answers = [known_truth(machine, item, node, frame) for item in items]
    if wanted in answers:
        return wanted
    if None in answers:
        return machine.unknown("", not_none=True)
    if error is not None:
        raise error
    return not wanted


class _Decided(BaseException):
    pass


def _any_all_made(machine: Machine, generator: GeneratorCall, wanted: bool, node: Any, frame: Frame) -> Object:
    answers: list[bool | None] = []

    def look(item: Object) -> Object:
        answers.append(known_truth(machine, item, node, frame))
        if answers[-1] is wanted:
            raise _Decided
        return None

    with suppress(_Decided):
        generator.run(look)
    if None not in answers:
        return wanted in answers if wanted else False not in answers
    # It may have stopped before what it did.
    forget_rest(machine, generator)
    return machine.unknown("", not_none=True)


@models("builtins.sum")
def _sum(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.arguments[0], call.frame)
    if items is None:
        return machine.unknown("", not_none=True)
    total: Object = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("start", 0)
    for item in items:
        machine.step()
        total = binary(machine, ast.Add, total, item)
    return total


@models("builtins.min")
def _min(machine: Machine, call: Call) -> Object:
    return _extreme(machine, call.arguments, call.keywords, False, call.frame)


@models("builtins.max")
def _max(machine: Machine, call: Call) -> Object:
    return _extreme(machine, call.arguments, call.keywords, True, call.frame)


def _extreme(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], largest: bool, frame: Frame
) -> Object:
    items = iterate(machine, arguments[0], frame) if len(arguments) == 1 else settled(machine, arguments)
    if items is None:
        return machine.unknown("", not_none=True)
    if not items:
        if "default" in keywords:
            return keywords["default"]
        raise Raised("ValueError", "the sequence is empty")
    # Sorting keeps the order of equals: the first of the largest is the first of the reversed order.
    given = {key: value for key, value in keywords.items() if key == "key"}
    ordered = sort(machine, items, {**given, "reverse": largest}, frame)
    return machine.unknown("", not_none=True) if ordered is None else ordered[0]
