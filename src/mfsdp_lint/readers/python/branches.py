"""Branches whose condition is not known.

Both sides are tried. Where they leave the same state behind, nothing needs to be decided. Where they differ, the
program is run once for each side (up to a limit), so that settings stay correlated; past the limit the differing values
become one of several.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.machine import (
    FORCED_FORK_LIMIT,
    FORK_LIMIT,
    CannotMerge,
    Frame,
    Machine,
    Raised,
    identical,
    join,
)
from mfsdp_lint.readers.python.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    External,
    Instance,
    ListObject,
    Object,
    Unknown,
)

Signal = Any
"""How a block ended: None (it ran through) or a tuple that begins with "return", "break" or "continue"."""


def truth(machine: Machine, value: Object) -> bool | None:
    """`bool(value)` where it follows from the value alone; None when it is not known."""
    if isinstance(value, CONSTANTS):
        return bool(value)
    if isinstance(value, Unknown):
        settled = machine.settle(value)
        if settled is not value:
            return truth(machine, settled)
        inner = value.fields.get("<not of>")
        if inner is not None:
            known = truth(machine, inner)
            return None if known is None else not known
        found = machine.facts.fields.get(("truth", id(value)))
        return found if isinstance(found, bool) else None
    if isinstance(value, Choice):
        answers = {None if option is MISSING else truth(machine, option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, (tuple, frozenset)):
        return bool(value)
    if isinstance(value, ListObject):
        return None if value.items is None else bool(value.items)
    if isinstance(value, DictObject):
        certain = any(not (isinstance(item, Choice) and MISSING in item.options) for item in value.fields.values())
        return True if certain else None if value.writes.get("<hazy>") or value.fields else False
    if isinstance(value, External):
        return None
    return True


def known_truth(machine: Machine, value: Object, frame: Frame, node: ast.AST) -> bool | None:
    """`bool(value)`, asking an object's own `__bool__` or `__len__`."""
    if isinstance(value, Instance):
        from mfsdp_lint.readers.python.attributes import get_attribute
        from mfsdp_lint.readers.python.calls import call
        from mfsdp_lint.readers.python.classes import ClassObject, lookup, opaque

        if not isinstance(value.cls, ClassObject):
            return True
        for name in ("__bool__", "__len__"):
            if lookup(machine, value.cls, name)[0] is not MISSING:
                return truth(machine, call(machine, get_attribute(machine, value, name, frame), [], {}, node, frame))
        return None if opaque(machine, value.cls) and not value.fields else True
    if isinstance(value, EnumMember):
        from mfsdp_lint.readers.python.expressions import plain

        inner = plain(value)
        return True if inner is value else truth(machine, inner)
    return truth(machine, value)


def decide(machine: Machine, value: Object, outcome: bool) -> None:
    """Take it as given on this way that `value` is true (or false)."""
    if not isinstance(value, Unknown):
        return
    inner = value.fields.get("<not of>")
    if inner is not None:
        decide(machine, inner, not outcome)
        return
    machine.learn(("truth", id(value)), outcome)
    question = value.fields.get("<equal>")
    if question is not None:
        subject, answer = question
        if outcome:
            machine.learn(("is", id(subject)), answer)
        elif answer is None and isinstance(subject, Unknown) and not subject.not_none:
            machine.learn(("not none", id(subject)), True)


def branch(
    machine: Machine, test: ast.expr, frame: Frame, yes: Callable[[], Signal], no: Callable[[], Signal]
) -> Signal:
    """Run `if test: yes() else: no()` and say how it ended."""
    from mfsdp_lint.readers.python.expressions import evaluate

    value = evaluate(machine, test, frame)
    known = known_truth(machine, value, frame, test)
    if known is not None:
        return yes() if known else no()
    return undecided(machine, value, lambda: _text(test), yes, no)


def _text(test: ast.expr) -> str:
    return ast.unparse(test)


def undecided(
    machine: Machine, value: Object, text: Callable[[], str], yes: Callable[[], Signal], no: Callable[[], Signal]
) -> Signal:
    """Both sides of a branch that is not decided."""
    sides = []
    mergeable = True
    mark = len(machine.journal)
    for outcome, run in ((True, yes), (False, no)):
        side = _try(machine, value, outcome, run, mark)
        if side is CannotMerge:
            mergeable = False
        sides.append(side)
    first, second = sides
    if isinstance(first, Raised) or isinstance(second, Raised):
        if isinstance(first, Raised) and isinstance(second, Raised):
            raise first
        # One side stops the program: a run that goes on took the other.
        outcome = isinstance(first, Raised)
        decide(machine, value, not outcome)
        return no() if outcome else yes()
    if mergeable and _alike(first[0], second[0]):
        signal = _merge(machine, first, second, mark, force=machine.trial > 0 or not _can_fork(machine, FORK_LIMIT))
        if signal is not CannotMerge:
            return signal
    if machine.trial or machine.module_level:
        raise CannotMerge
    return _fork(machine, value, text, yes, no, FORCED_FORK_LIMIT)


def _try(machine: Machine, value: Object, outcome: bool, run: Callable[[], Signal], mark: int) -> Any:
    machine.trial += 1
    try:
        decide(machine, value, outcome)
        signal = run()
        return signal, machine.changes(mark)
    except Raised as error:
        return error
    except CannotMerge:
        return CannotMerge
    finally:
        machine.trial -= 1
        machine.rollback(mark)


def _alike(first: Signal, second: Signal) -> bool:
    return (first is None) == (second is None) and (first is None or first[0] == second[0])


def _can_fork(machine: Machine, limit: int) -> bool:
    return not machine.module_level and not machine.trial and len(machine.taken) < limit


def _merge(machine: Machine, first: Any, second: Any, mark: int, force: bool) -> Signal:
    (signal, yes), (other_signal, no) = first, second
    merged = []
    differs = False
    for place in {**yes, **no}:
        owner, fields, key, _ = yes.get(place) or no[place]
        if owner is machine.facts:
            continue
        before = fields.get(key, MISSING)
        left = yes[place][3] if place in yes else before
        right = no[place][3] if place in no else before
        if not _equivalent(left, right):
            bookkeeping = key == "<hazy>" or (hasattr(owner, "writes") and fields is owner.writes) or _is_question(key)
            differs = differs or not bookkeeping
            left = _joined(machine, left, right, bookkeeping, key)
        merged.append((owner, fields, key, left))
    result = signal
    if signal is not None and signal[0] == "return":
        if not _equivalent(signal[1], other_signal[1]):
            differs = True
            result = ("return", join(machine, [signal[1], other_signal[1]]))
    if differs and not force:
        return CannotMerge
    for owner, fields, key, value in merged:
        machine.journal.append((owner, fields, key, fields.get(key, MISSING)))
        if value is MISSING:
            fields.pop(key, None)
        else:
            fields[key] = value
    return result


def _is_question(key: Any) -> bool:
    return key == "<not>" or (isinstance(key, tuple) and key[:1] == ("<question>",))


def _equivalent(left: Object, right: Object) -> bool:
    if identical(left, right):
        return True
    # What a side read from an unknown object for the first time says nothing.
    return (isinstance(left, Unknown) and right is MISSING) or (isinstance(right, Unknown) and left is MISSING)


def _joined(machine: Machine, left: Object, right: Object, bookkeeping: bool, key: Any) -> Object:
    if bookkeeping:
        return left if left is not MISSING else right
    if isinstance(left, list) or isinstance(right, list) or key == "items":
        if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            return [join(machine, [one, other]) for one, other in zip(left, right)]
        return None
    return join(machine, [left, right])


def _fork(
    machine: Machine,
    value: Object,
    text: Callable[[], str],
    yes: Callable[[], Signal],
    no: Callable[[], Signal],
    limit: int,
) -> Signal:
    position = len(machine.taken)
    if position >= limit:
        from mfsdp_lint.readers.python.machine import OutOfSteps

        raise OutOfSteps
    outcome = machine.decisions[position] if position < len(machine.decisions) else True
    words = text()
    machine.taken.append((outcome, words if outcome else f"not ({words})"))
    decide(machine, value, outcome)
    return yes() if outcome else no()


def choose(
    machine: Machine, test: ast.expr, frame: Frame, yes: Callable[[], Object], no: Callable[[], Object]
) -> Object:
    """`yes() if test else no()`: both values where the test is not known."""
    from mfsdp_lint.readers.python.expressions import evaluate

    value = evaluate(machine, test, frame)
    known = known_truth(machine, value, frame, test)
    if known is not None:
        return yes() if known else no()
    signal = undecided(machine, value, lambda: _text(test), lambda: ("return", yes()), lambda: ("return", no()))
    return signal[1]
