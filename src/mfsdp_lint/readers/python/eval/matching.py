"""`match` statements."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign_name
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import branch, undecided
from mfsdp_lint.readers.python.eval.classes import fields_of, has_base, has_fields, lookup, opaque
from mfsdp_lint.readers.python.eval.comparisons import equal, same_object
from mfsdp_lint.readers.python.eval.containers import hashable, plain_key
from mfsdp_lint.readers.python.eval.instance_of import is_instance
from mfsdp_lint.readers.python.eval.iteration import uncertain
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import Signal, evaluate, run_block
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import EQUAL, HAZY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    DictObject,
    EnumMember,
    IteratorObject,
    ListObject,
    Native,
    Object,
    SetObject,
    Unknown,
    all_are,
)


def run_match(machine: Machine, node: Any, frame: Frame) -> Signal:
    return _match_cases(machine, machine.settle(evaluate(machine, node.subject, frame)), node.cases, node, frame)


def _match_cases(machine: Machine, subject: Object, cases: list[Any], node: Any, frame: Frame) -> Signal:
    if not cases:
        return None
    case, rest = cases[0], cases[1:]
    found = matches(machine, subject, case.pattern, node, frame)
    if found is True:
        return _guarded_case(machine, subject, case, rest, node, frame)
    if found is False:
        return _match_cases(machine, subject, rest, node, frame)
    question = machine.unknown(f"{ast.unparse(node.subject)} matches {ast.unparse(case.pattern)}", not_none=True)
    if isinstance(case.pattern, ast.MatchValue) and isinstance(subject, Unknown):
        answer = evaluate(machine, case.pattern.value, frame)
        # (1, 1.0 and True match each other.)
        if isinstance(answer, str) or (isinstance(answer, (int, float)) and answer not in (0, 1)):
            question.fields[EQUAL] = (subject, answer)
    return undecided(
        machine,
        question,
        lambda: question.text,
        lambda: _guarded_case(machine, subject, case, rest, node, frame),
        lambda: _match_cases(machine, subject, rest, node, frame),
    )


def _guarded_case(machine: Machine, subject: Object, case: Any, rest: list[Any], node: Any, frame: Frame) -> Signal:
    if case.guard is None:
        return run_block(machine, case.body, frame)
    return branch(
        machine,
        case.guard,
        frame,
        lambda: run_block(machine, case.body, frame),
        lambda: _match_cases(machine, subject, rest, node, frame),
    )


def matches(machine: Machine, subject: Object, pattern: Any, node: Any, frame: Frame) -> bool | None:
    """Tell whether a `case` pattern matches, binding its names; None if that is not known."""
    subject = machine.settle(subject)
    match pattern:
        case ast.MatchValue(value=value):
            return equal(machine, subject, evaluate(machine, value, frame))
        case ast.MatchSingleton(value=value):
            return same_object(subject, value)
        case ast.MatchAs(pattern=inner, name=name):
            found = True if inner is None else matches(machine, subject, inner, node, frame)
            if name is not None and found is not False:
                assign_name(machine, name, subject, frame)
            return found
        case ast.MatchOr(patterns=patterns):
            return _match_any(machine, subject, patterns, node, frame)
        case ast.MatchSequence(patterns=patterns):
            return _match_sequence(machine, subject, patterns, node, frame)
        case ast.MatchMapping():
            return _match_mapping(machine, subject, pattern, node, frame)
        case ast.MatchClass():
            return _match_class(machine, subject, pattern, node, frame)
    return _match_perhaps(machine, pattern, frame)


def _match_perhaps(machine: Machine, pattern: Any, frame: Frame) -> bool | None:
    """Bind the names of a pattern to unknown values, where it is not known whether the pattern matches."""
    for inner in ast.walk(pattern):
        if isinstance(inner, (ast.MatchAs, ast.MatchStar)) and inner.name:
            assign_name(machine, inner.name, machine.unknown(), frame)
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            assign_name(machine, inner.rest, machine.unknown(), frame)
    return None


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _match_any(machine: Machine, subject: Object, patterns: list[Any], node: Any, frame: Frame) -> bool | None:
    # The first that matches binds the names.
    for place, pattern in enumerate(patterns):
        answer = matches(machine, subject, pattern, node, frame)
        if answer is None:
            rest = [matches(machine, subject, later, node, frame) for later in patterns[place + 1 :]]
            for each in patterns:
                _match_perhaps(machine, each, frame)
            return True if True in rest else None
        if answer:
            return True
    return False


def _match_sequence(machine: Machine, subject: Object, patterns: list[Any], node: Any, frame: Frame) -> bool | None:
    if isinstance(subject, (*CONSTANTS, DictObject, SetObject, frozenset, IteratorObject, EnumMember)):
        return False
    items = list(subject) if isinstance(subject, tuple) else subject.items if isinstance(subject, ListObject) else None
    if items is None or any(map(uncertain, items)):
        return _match_perhaps(machine, ast.MatchSequence(patterns), frame)
    star = next((place for place, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
    if star is None:
        if len(items) != len(patterns):
            return False
        pairs = list(zip(items, patterns, strict=True))
    else:
        behind = len(patterns) - star - 1
        if len(items) < star + behind:
            return False
        end = len(items) - behind
        pairs = [*zip(items[:star], patterns, strict=False), *zip(items[end:], patterns[star + 1 :], strict=True)]
        if patterns[star].name:
            assign_name(machine, patterns[star].name, ListObject(items[star:end], machine.tick()), frame)
    return _all([matches(machine, item, one, node, frame) for item, one in pairs])


def _match_mapping(
    machine: Machine, subject: Object, pattern: ast.MatchMapping, node: Any, frame: Frame
) -> bool | None:
    if isinstance(subject, (*CONSTANTS, tuple, frozenset, ListObject, EnumMember)):
        return False
    if not isinstance(subject, DictObject) or subject.writes.get(HAZY):
        return _match_perhaps(machine, pattern, frame)
    keys = [plain_key(machine, evaluate(machine, key, frame)) for key in pattern.keys]
    if not all(map(hashable, keys)):
        return _match_perhaps(machine, pattern, frame)
    if any(key not in subject.fields for key in keys):
        return False
    if any(map(uncertain, subject.fields.values())):
        return _match_perhaps(machine, pattern, frame)
    found = [
        matches(machine, subject.fields[key], one, node, frame) for key, one in zip(keys, pattern.patterns, strict=True)
    ]
    if pattern.rest:
        rest = DictObject({key: item for key, item in subject.fields.items() if key not in keys}, machine.tick())
        rest.writes = {key: write for key, write in subject.writes.items() if key in rest.fields}
        assign_name(machine, pattern.rest, rest, frame)
    return _all(found)


ITSELF = {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
"""Built-in types whose only positional pattern is the subject itself."""


def _match_class(machine: Machine, subject: Object, pattern: ast.MatchClass, node: Any, frame: Frame) -> bool | None:
    cls = machine.settle(evaluate(machine, pattern.cls, frame))
    answer = is_instance(machine, subject, cls)
    if answer is False:
        return False
    if answer is None:
        return _match_perhaps(machine, pattern, frame)
    answers: list[bool | None] = []
    names: list[str] = []
    if pattern.patterns and isinstance(cls, Native) and cls.name.removeprefix("builtins.") in ITSELF:
        answers.append(matches(machine, subject, pattern.patterns[0], node, frame))
    elif pattern.patterns:
        order = _positions(machine, cls, frame)
        if order is None:
            return _match_perhaps(machine, pattern, frame)
        if len(order) < len(pattern.patterns):
            raise Raised("TypeError", "too many positional patterns")
        names = order[: len(pattern.patterns)]
    inner = [*(pattern.patterns if names else ()), *pattern.kwd_patterns]
    for name, one in zip([*names, *pattern.kwd_attrs], inner, strict=True):
        try:
            answers.append(matches(machine, get_attribute(machine, subject, name, None, frame), one, node, frame))
        except Raised:
            return False
    return _all(answers)


def _positions(machine: Machine, cls: Object, frame: Frame) -> list[str] | None:
    """List the attributes that positional patterns of a class match, in order; None if they are not known."""
    if not isinstance(cls, ClassObject):
        return None
    given = machine.settle(lookup(machine, cls, "__match_args__")[0])
    if isinstance(given, tuple) and all_are(given, str):
        return list(given)
    if given is not MISSING or opaque(machine, cls):
        return None
    if has_fields(machine, cls) or has_base(machine, cls, "typing.NamedTuple"):
        return [spec.name for spec in fields_of(machine, cls) if spec.init and not spec.keyword_only]
    return []
