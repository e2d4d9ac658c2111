"""`and` and `or`, where operands are not known."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.branches import known_truth, undecided
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.truth import truth
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import EITHER
from mfsdp_lint.readers.python.values.objects import Choice, DictObject, Instance, ListObject, Object, Unknown, derived


def connected(machine: Machine, nodes: list[ast.expr], is_and: bool, frame: Frame) -> Object:
    """Evaluate `a and b and …` or `a or b or …`; operands are evaluated only where Python reaches them."""
    open_values: list[Object] = []
    passed: list[Object] = []
    value: Object = None
    for position, item in enumerate(nodes):
        mark, started = len(machine.path.journal), machine.clock
        try:
            value = evaluate(machine, item, frame)
        except Raised:
            if not open_values:
                raise
            # Reached only if the operands before it did not decide, and then the program stops here.
            machine.doubts += 1
            machine.rollback(mark)
            return _either(machine, open_values[:-1], open_values[-1], is_and)
        if open_values and (_has_effect(machine, mark, started) or _is_object(value)):
            machine.rollback(mark)
            return _connected_either_way(machine, open_values, nodes, position, is_and, frame)
        known = known_truth(machine, value, item, frame)
        if known is None:
            open_values.append(value)
        elif known is not is_and:
            return derived(value, *passed) if not open_values else _either(machine, open_values, value, is_and)
        else:
            passed.append(value)
    if open_values and open_values[-1] is value:
        open_values.pop()
    return derived(value, *passed) if not open_values else _either(machine, open_values, value, is_and)


def _has_effect(machine: Machine, mark: int, started: int) -> bool:
    return any(abs(owner.born) <= started for owner, *_ in machine.path.journal[mark:])


def _is_object(value: Object) -> bool:
    """Tell whether the identity of a value matters: a write to `config or default()` is a write to one of the two."""
    options = value.options if isinstance(value, Choice) else (value,)
    return any(isinstance(option, (Instance, DictObject, ListObject)) for option in options)


def _connected_either_way(
    machine: Machine, open_values: list[Object], nodes: list[ast.expr], position: int, is_and: bool, frame: Frame
) -> Object:
    """Evaluate an operand that changes or makes something only on those paths on which Python reaches it."""
    last = open_values[-1]
    stops = last if len(open_values) == 1 else _either(machine, open_values[:-1], last, is_and)

    def rest() -> Any:
        return "return", connected(machine, nodes[position:], is_and, frame)

    def stop() -> Any:
        return "return", stops

    question = last if len(open_values) == 1 else machine.unknown("", not_none=True)
    text = ast.unparse(nodes[position - 1])
    found = undecided(machine, question, lambda: text, rest if is_and else stop, stop if is_and else rest)
    value: Object = found[1]
    return value


def _either(machine: Machine, open_values: list[Object], value: Object, is_and: bool) -> Object:
    """Return `a or b` or `a and b` where `a` is not known: b's value where that is certain, else unknown."""
    options: list[Object] = [value]
    for one in open_values:
        for option in one.options if isinstance(one, Choice) else (one,):
            known = truth(machine, option)
            if known is None:
                if isinstance(option, Unknown):
                    combined = tuple(id(item) for item in [*open_values, value])
                    return _combination(machine, open_values, value, is_and, combined)
                options.append(option)
            elif known is not is_and:
                options.append(option)
    return join(machine, options)


def _combination(machine: Machine, open_values: list[Object], value: Object, is_and: bool, key: Any) -> Object:
    options = [each for one in (*open_values, value) for each in (one.options if isinstance(one, Choice) else (one,))]
    if any(isinstance(option, Instance) for option in options):
        return join(machine, options)
    owner = next(option for option in options if isinstance(option, Unknown))
    not_none = not is_and and not (value is None or isinstance(value, (Unknown, Choice)))
    found = machine.unknown("", not_none=not_none)
    # Not the same value as the operand, so it must not bear its name: names tell where a value was read from.
    found.text = f"{owner.text} {'and' if is_and else 'or'} …" if owner.text else ""
    found.fields[EITHER] = tuple(option for option in options if isinstance(option, Unknown))
    # Python gives False for `unknown and False`, whatever the unknown is: only its truth is certain.
    known = truth(machine, value)
    if known is not None and known is not is_and:
        machine.learn("truth", found, known)
    return found
