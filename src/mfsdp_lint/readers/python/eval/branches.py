"""Branches whose condition is not known, and `and` and `or` with operands that are not known.

Both sides are tried. Where they leave the same state behind, nothing needs to be decided. Where they differ, the
program is run once for each side (up to a limit), so that settings stay correlated; past the limit the differing values
become one of several.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from mfsdp_lint.megatron.vocabulary import NAMES
from mfsdp_lint.readers.python.eval.attributes import class_attribute, get_attribute
from mfsdp_lint.readers.python.eval.classes import bits_of, lookup, opaque
from mfsdp_lint.readers.python.state.calling import Signal, evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import (
    FORCED_FORK_LIMIT,
    FORK_LIMIT,
    LOCAL_PATHS,
    CannotJoin,
    LocalPath,
    OutOfSteps,
    Raised,
    kept,
)
from mfsdp_lint.readers.python.state.truth import CHOICE_LIMIT, decide, join, narrow, truth
from mfsdp_lint.readers.python.state.variables import decides
from mfsdp_lint.readers.python.values.code import Call, plain
from mfsdp_lint.readers.python.values.markers import CONNECTED, EITHER, MAY_HAVE_CHANGED, NOT, QUESTION
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    Frame,
    Instance,
    ListObject,
    Object,
    Option,
    Partial,
    Unknown,
    derived,
    identical,
    is_object,
)

Side = tuple[Signal, dict[Any, Any]]
"""How one side of a branch ended, and what it wrote."""


def known_truth(interp: Interpreter, value: Object, node: ast.AST, frame: Frame) -> bool | None:
    """Return `bool(value)` as the object's own `__bool__` or `__len__` gives it; None if it is not known."""
    if type(value) is bool:
        return value
    if type(value) is Option:
        decides(interp, value, frame)
    if isinstance(value, Instance):
        if not isinstance(value.cls, ClassObject):
            return True
        for name in ("__bool__", "__len__"):
            if lookup(interp, value.cls, name)[0] is not MISSING:
                return truth(
                    interp,
                    invoke(interp, get_attribute(interp, value, name, None, frame), Call([], {}, node, frame)),
                )
        return None if opaque(interp, value.cls) and not value.fields else True
    if isinstance(value, EnumMember):
        number = bits_of(interp, value)
        if number is not None:
            return number != 0
        inner = plain(value)
        return True if inner is value else truth(interp, inner)
    return truth(interp, value)


def nothing() -> Signal:
    """Run the other side of a branch that has none."""
    return None


def branch(
    interp: Interpreter, test: ast.expr, frame: Frame, yes: Callable[[], Signal], no: Callable[[], Signal]
) -> Signal:
    """Run `if test: yes() else: no()` and say how it ended."""
    value = evaluate(interp, test, frame)
    known = known_truth(interp, value, test, frame)
    if known is not None:
        return yes() if known else no()
    return undecided(interp, value, lambda: _text(test), yes, no)


def _text(test: ast.expr) -> str:
    return ast.unparse(test)


def undecided(
    interp: Interpreter,
    value: Object,
    text: Callable[[], str],
    yes: Callable[[], Signal],
    no: Callable[[], Signal],
    otherwise: Callable[[], str] | None = None,
) -> Signal:
    """Run both sides of a branch that is not decided; `otherwise` is the text for `no`, else the other one negated."""
    mark, born = len(interp.path.journal), interp.clock
    first = _try(interp, value, True, yes, mark)
    second = (None, {}) if no is nothing else _try(interp, value, False, no, mark)
    if isinstance(first, Raised) or isinstance(second, Raised):
        if isinstance(first, Raised) and isinstance(second, Raised):
            raise first
        # One side stops the program: a run that goes on took the other.
        interp.doubts += 1
        outcome = not isinstance(first, Raised)
        decide(interp, value, outcome)
        return yes() if outcome else no()
    if first is not CannotJoin and second is not CannotJoin and _alike(first[0], second[0]):
        signal = join_sides(
            interp, [first, second], born, force=interp.path.local is not None or not _can_fork(interp, FORK_LIMIT)
        )
        if signal is not CannotJoin:
            return signal
    if interp.path.local is not None:
        outcome = interp.path.local.next()
        decide(interp, value, outcome)
        return yes() if outcome else no()
    if interp.path.trial or interp.module_level:
        raise CannotJoin
    return _fork(interp, value, text, yes, no, FORCED_FORK_LIMIT, otherwise)


def _try(interp: Interpreter, value: Object, outcome: bool, run: Callable[[], Signal], mark: int) -> Any:
    interp.path.trial += 1
    try:
        decide(interp, value, outcome)
        signal = run()
        return signal, interp.changes(mark)
    except Raised as error:
        interp.doubts += 1
        return kept(error)
    except CannotJoin:
        return CannotJoin
    finally:
        interp.path.trial -= 1
        interp.rollback(mark)


def _alike(first: Signal, second: Signal) -> bool:
    return (first is None) == (second is None) and (first is None or first[0] == second[0])


def _can_fork(interp: Interpreter, limit: int) -> bool:
    return not interp.module_level and not interp.path.trial and len(interp.path.taken) < limit


def join_sides(interp: Interpreter, sides: list[Side], born: int, force: bool) -> Signal:
    """Leave behind what any of `sides` may have left; CannotJoin when they differ and that is not wanted (`force`).

    What a side made itself (after `born`) belongs to that side alone.
    """
    merged = []
    differs = False
    places: dict[Any, Any] = {}
    for _, changed in sides:
        places.update(changed)
    interp.charge(len(places))
    for place, (owner, fields, key, _) in places.items():
        if owner is interp.path.facts:
            continue
        if abs(owner.born) > born:
            found = [changed[place][3] for _, changed in sides if place in changed]
        else:
            before = fields.get(key, MISSING)
            found = [changed[place][3] if place in changed else before for _, changed in sides]
        value = found[0]
        if owner is interp.path.launches:
            value = next(other for other in found if other is not MISSING)
        elif not all(_equivalent(value, other, owner) for other in found[1:]):
            bookkeeping = key is MAY_HAVE_CHANGED or fields is getattr(owner, "writes", None) or _is_question(key)
            differs = differs or not (bookkeeping or _beside_the_point(owner, key))
            value = _joined(interp, found, bookkeeping, owner, key)
        merged.append((owner, fields, key, value))
    signal = sides[0][0]
    if signal is not None and signal[0] == "return":
        results = [side[0][1] for side in sides]
        if not all(identical(results[0], other) for other in results[1:]):
            differs = True
            signal = ("return", join(interp, results))
    if differs and not force:
        return CannotJoin
    for owner, fields, key, value in merged:
        interp.path.journal.append((owner, fields, key, fields.get(key, MISSING)))
        if value is MISSING:
            fields.pop(key, None)
        else:
            fields[key] = value
    return signal


def every_path(interp: Interpreter, run: Callable[[], Object]) -> Object:
    """Join the results of a call over all paths through its body not joined earlier; CannotJoin past LOCAL_PATHS."""
    outer = interp.path.local
    mark, born = len(interp.path.journal), interp.clock
    pending: list[tuple[bool, ...]] = [()]
    sides: list[Side] = []
    error: Raised | None = None
    try:
        while pending:
            interp.path.local = LocalPath(pending.pop())
            if len(sides) >= LOCAL_PATHS:
                raise CannotJoin
            try:
                result = run()
            except Raised as raised:
                interp.doubts += 1
                error = kept(raised)
                result = MISSING
            local = interp.path.local
            pending += [
                (*local.taken[:position], not local.taken[position])
                for position in range(len(local.prefix), len(local.taken))
            ]
            if not pending and not sides and result is not MISSING:
                return result
            if result is not MISSING:
                sides.append((("return", result), interp.changes(mark)))
            interp.rollback(mark)
    finally:
        interp.path.local = outer
    if not sides:
        raise error or CannotJoin
    value: Object = join_sides(interp, sides, born, force=True)[1]
    return value


def _beside_the_point(owner: Any, key: Any) -> bool:
    """Tell whether a setting has nothing to do with sharding, saving or offloading: differences in it do not matter."""
    return isinstance(owner, Instance) and key not in NAMES


def _is_question(key: Any) -> bool:
    return key is NOT or (isinstance(key, tuple) and key[:1] == (QUESTION,))


def _equivalent(left: Object, right: Object, owner: Any) -> bool:
    if identical(left, right):
        return True
    # What a side read from an unknown object for the first time says nothing.
    return isinstance(owner, Unknown) and (
        (isinstance(left, Unknown) and right is MISSING) or (isinstance(right, Unknown) and left is MISSING)
    )


def perhaps(interp: Interpreter, owner: Any, fields: dict[Any, Any], key: Any, old: Any, new: Any) -> Any:
    """Return the value of a place that may have been written: the old one, the new one, or both joined."""
    if owner is interp.path.facts or _equivalent(old, new, owner):
        return old
    if owner is interp.path.launches:
        return old if new is MISSING else new
    bookkeeping = key is MAY_HAVE_CHANGED or fields is getattr(owner, "writes", None) or _is_question(key)
    return _joined(interp, [old, new], bookkeeping, owner, key)


def _joined(interp: Interpreter, values: list[Any], bookkeeping: bool, owner: Any, key: Any) -> Any:
    if bookkeeping:
        return next(value for value in values if value is not MISSING)
    if MISSING in values:
        unwritten = _unwritten(interp, owner, key)
        values = [unwritten if value is MISSING else value for value in values]
    if key == "items" or list in map(type, values):
        if all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
            return [join(interp, list(items)) for items in zip(*values, strict=True)]
        return _lists_joined(interp, values)
    return join(interp, values)


def _lists_joined(interp: Interpreter, lists: list[Any]) -> list[Object] | None:
    """Join lists of different lengths: their common beginning, then the rest of each, whose elements may be missing.

    Returns None where it does not matter which object is an element, or where an element is not known.
    """
    if not all(isinstance(one, list) and len(one) <= CHOICE_LIMIT for one in lists) or not any(
        is_object(item) for one in lists for item in one
    ):
        return None
    start = 0
    while all(start < len(one) and one[start] is lists[0][start] for one in lists):
        start += 1
    return [*lists[0][:start], *(join(interp, [item, MISSING]) for one in lists for item in one[start:])]


def _unwritten(interp: Interpreter, owner: Any, key: Any) -> Object:
    """Return the value read from a place that the current path did not write; MISSING where reading fails."""
    if isinstance(owner, Unknown) or (isinstance(owner, (Instance, DictObject)) and owner.writes.get(MAY_HAVE_CHANGED)):
        return interp.unknown(str(key))
    if isinstance(owner, Instance) and isinstance(key, str):
        return class_attribute(interp, owner, key)
    return MISSING


def _fork(
    interp: Interpreter,
    value: Object,
    text: Callable[[], str],
    yes: Callable[[], Signal],
    no: Callable[[], Signal],
    limit: int,
    otherwise: Callable[[], str] | None = None,
) -> Signal:
    position = len(interp.path.taken)
    if position >= limit:
        raise OutOfSteps
    outcome = interp.path.decisions[position] if position < len(interp.path.decisions) else True
    words = text() if outcome else otherwise() if otherwise else f"not ({text()})"
    interp.path.taken.append((outcome, words))
    decide(interp, value, outcome)
    return yes() if outcome else no()


def one_of(interp: Interpreter, options: list[Object], text: str, limit: int = FORK_LIMIT) -> Object:
    """Choose one of several objects that a call may return, one on each path; all of them past the limit of forks."""
    for number, option in enumerate(options[:-1], 1):
        if interp.path.local is not None or not _can_fork(interp, limit):
            return join(interp, options[number - 1 :])
        if _is_taken(interp, f"{text} returns configuration {number} of {len(options)}", limit):
            return option
    return options[-1]


def one_row(interp: Interpreter, choice: Choice) -> Object:
    """Choose one of several objects that rows of a table lead to, one on each path, with all that is of its row."""
    options = list(choice.options)
    while len(options) > 1:
        path, option = interp.path, options.pop(0)
        by = choice.picked_by(option)
        if by is None or path.local is not None or not _can_fork(interp, FORK_LIMIT):
            return join(interp, [option, *options])
        position = len(path.taken)
        outcome = path.decisions[position] if position < len(path.decisions) else True
        last = choice.picked_by(options[0]) if len(options) == 1 else None
        otherwise = f"not ({by.words})" if last is None else last.words
        path.taken.append((outcome, by.words if outcome else otherwise))
        narrow(interp, choice, [option] if outcome else options)
        if outcome:
            return option
    return options[0]


def one_key(
    interp: Interpreter,
    key: Unknown,
    known: Sequence[Object],
    text: str,
    limit: int,
    spelled: Callable[[Object], str] = repr,
) -> Object:
    """Take an unknown value to be one of several known ones, another on each path.

    It stays unknown where there is no room for that many paths, or where paths are joined.
    """
    turns = (len(known) - 1).bit_length()
    if interp.path.local is not None or not _can_fork(interp, limit - turns + 1):
        return key
    path = interp.path
    begin = len(path.taken)
    while len(known) > 1:
        position, half = len(path.taken), len(known) // 2 + len(known) % 2
        outcome = path.decisions[position] if position < len(path.decisions) else True
        known = known[:half] if outcome else known[half:]
        path.taken.append((outcome, ""))
    words = f"{text} == {spelled(known[0])}"
    path.taken[begin:] = [(outcome, words) for outcome, _ in path.taken[begin:]]
    interp.learn("is", key, known[0])
    return known[0]


def fork(interp: Interpreter, words: str) -> bool:
    """Tell whether the words are true on the current path: each of the two answers has a path of its own."""
    return _is_taken(interp, words, FORCED_FORK_LIMIT)


def _is_taken(interp: Interpreter, words: str, limit: int) -> bool:
    question = interp.unknown(words, not_none=True)
    return bool(_fork(interp, question, lambda: words, lambda: True, lambda: False, limit))


def choose(
    interp: Interpreter, test: ast.expr, frame: Frame, yes: Callable[[], Object], no: Callable[[], Object]
) -> Object:
    """Evaluate `yes() if test else no()`: both values where the test is not known."""
    value = evaluate(interp, test, frame)
    known = known_truth(interp, value, test, frame)
    if known is not None:
        return yes() if known else no()
    signal = undecided(interp, value, lambda: _text(test), lambda: ("return", yes()), lambda: ("return", no()))
    found: Object = signal[1]
    return found


def connected(interp: Interpreter, nodes: list[ast.expr], is_and: bool, frame: Frame) -> Object:
    """Evaluate `a and b and …` or `a or b or …`; operands are evaluated only where Python reaches them."""
    open_values: list[Object] = []
    passed: list[Object] = []
    value: Object = None
    for position, item in enumerate(nodes):
        mark, started = len(interp.path.journal), interp.clock
        try:
            value = evaluate(interp, item, frame)
        except Raised:
            if not open_values:
                raise
            # Reached only if the operands before it did not decide, and then the program stops here.
            interp.doubts += 1
            interp.rollback(mark)
            return _either(interp, open_values[:-1], open_values[-1], is_and)
        if open_values and (_has_effect(interp, mark, started) or _is_object(value)):
            interp.rollback(mark)
            return _connected_either_way(interp, open_values, nodes, position, is_and, frame)
        known = known_truth(interp, value, item, frame)
        if known is None:
            open_values.append(value)
        elif known is not is_and:
            return derived(value, *passed) if not open_values else _either(interp, open_values, value, is_and)
        else:
            passed.append(value)
    if open_values and open_values[-1] is value:
        open_values.pop()
    return derived(value, *passed) if not open_values else _either(interp, open_values, value, is_and)


def _has_effect(interp: Interpreter, mark: int, started: int) -> bool:
    return any(abs(owner.born) <= started for owner, *_ in interp.path.journal[mark:])


def _is_object(value: Object) -> bool:
    """Tell whether the identity of a value matters: a write to `config or default()` is a write to one of the two, and
    a call of `hook or config.update` may change what the method belongs to.
    """
    options = value.options if isinstance(value, Choice) else (value,)
    return any(isinstance(option, (Instance, DictObject, ListObject, Bound, Partial)) for option in options)


def _connected_either_way(
    interp: Interpreter, open_values: list[Object], nodes: list[ast.expr], position: int, is_and: bool, frame: Frame
) -> Object:
    """Evaluate an operand that changes or makes something only on those paths on which Python reaches it."""
    last = open_values[-1]
    stops = last if len(open_values) == 1 else _either(interp, open_values[:-1], last, is_and)

    def rest() -> Any:
        return "return", connected(interp, nodes[position:], is_and, frame)

    def stop() -> Any:
        return "return", stops

    question = last if len(open_values) == 1 else interp.unknown("", not_none=True)
    text = ast.unparse(nodes[position - 1])
    found = undecided(interp, question, lambda: text, rest if is_and else stop, stop if is_and else rest)
    value: Object = found[1]
    return value


def _either(interp: Interpreter, open_values: list[Object], value: Object, is_and: bool) -> Object:
    """Return `a or b` or `a and b` where `a` is not known: b's value where that is certain, else unknown."""
    options: list[Object] = [value]
    for one in open_values:
        for option in one.options if isinstance(one, Choice) else (one,):
            known = truth(interp, option)
            if known is None:
                if isinstance(option, Unknown):
                    combined = tuple(id(item) for item in [*open_values, value])
                    return _combination(interp, open_values, value, is_and, combined)
                options.append(option)
            elif known is not is_and:
                options.append(option)
    return join(interp, options)


def _combination(interp: Interpreter, open_values: list[Object], value: Object, is_and: bool, key: Any) -> Object:
    options = [each for one in (*open_values, value) for each in (one.options if isinstance(one, Choice) else (one,))]
    if any(isinstance(option, Instance) for option in options):
        return join(interp, options)
    owner = next(option for option in options if isinstance(option, Unknown))
    not_none = not is_and and not (value is None or isinstance(value, (Unknown, Choice)))
    found = interp.unknown("", not_none=not_none)
    # Not the same value as the operand, so it must not bear its name: names tell where a value was read from.
    found.text = f"{owner.text} {'and' if is_and else 'or'} …" if owner.text else ""
    found.fields[EITHER] = tuple(option for option in options if isinstance(option, Unknown))
    found.fields[CONNECTED] = is_and, (*open_values, value)
    # Python gives False for `unknown and False`, whatever the unknown is: only its truth is certain.
    known = truth(interp, value)
    if known is not None and known is not is_and:
        interp.learn("truth", found, known)
    return found
