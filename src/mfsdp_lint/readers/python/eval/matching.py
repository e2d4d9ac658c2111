"""`match` statements."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.readers.python.eval.assignments import assign_name
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import branch, undecided
from mfsdp_lint.readers.python.eval.comparisons import equal, same_object
from mfsdp_lint.readers.python.eval.containers import uncertain
from mfsdp_lint.readers.python.eval.instance_of import is_instance
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import Signal, evaluate, run_block
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import EQUAL
from mfsdp_lint.readers.python.values.objects import Choice, ListObject, Object, Unknown


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
    """Whether a `case` pattern matches, binding its names; None when that is not known."""
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
            answers = [matches(machine, subject, one, node, frame) for one in patterns]
            return True if True in answers else None if None in answers else False
        case ast.MatchSequence(patterns=patterns):
            return _match_sequence(machine, subject, patterns, node, frame)
        case ast.MatchClass(cls=cls, patterns=[], kwd_attrs=names, kwd_patterns=inner):
            return _match_class(machine, subject, cls, names, inner, node, frame)
    for bound in (one for one in ast.walk(pattern) if isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name):
        assign_name(machine, str(bound.name), machine.unknown(), frame)
    return None


def _match_sequence(machine: Machine, subject: Object, patterns: list[Any], node: Any, frame: Frame) -> bool | None:
    items = list(subject) if isinstance(subject, tuple) else subject.items if isinstance(subject, ListObject) else []
    open_ended = any(isinstance(one, ast.MatchStar) for one in patterns) or any(map(uncertain, items or ()))
    if open_ended or isinstance(subject, (Unknown, Choice)):
        for one in (
            inner
            for pattern in patterns
            for inner in ast.walk(pattern)
            if isinstance(inner, (ast.MatchAs, ast.MatchStar)) and inner.name
        ):
            assign_name(machine, str(one.name), machine.unknown(), frame)
        return None
    if not isinstance(subject, (tuple, ListObject)):
        return False
    if items is None:
        return None
    if len(items) != len(patterns):
        return False
    answers = [matches(machine, item, one, node, frame) for item, one in zip(items, patterns, strict=True)]
    return False if False in answers else None if None in answers else True


def _match_class(
    machine: Machine, subject: Object, cls: ast.expr, names: list[str], patterns: list[Any], node: Any, frame: Frame
) -> bool | None:
    answer = is_instance(machine, subject, evaluate(machine, cls, frame))
    if answer is not True:
        return answer
    answers: list[bool | None] = []
    for name, pattern in zip(names, patterns, strict=True):
        try:
            answers.append(matches(machine, get_attribute(machine, subject, name, None, frame), pattern, node, frame))
        except Raised:
            return False
    return False if False in answers else None if None in answers else True
