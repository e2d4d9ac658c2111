"""Statements by kind; exceptions, `with` blocks, and `match` statements."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.eval.assignments import (
    assign,
    assign_name,
    bind,
    run_annotated,
    run_assign,
    run_augmented,
    run_delete,
    run_scope,
)
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import branch, known_truth, nothing, perhaps, undecided
from mfsdp_lint.readers.python.eval.classes import (
    NAMED_TUPLE,
    class_names,
    fields_of,
    has_base,
    has_fields,
    is_instance,
    lookup,
    opaque,
)
from mfsdp_lint.readers.python.eval.containers import hashable, plain_key
from mfsdp_lint.readers.python.eval.definitions import run_define_class, run_define_function
from mfsdp_lint.readers.python.eval.imports import bind_import, import_guarded
from mfsdp_lint.readers.python.eval.loops import run_for, run_while
from mfsdp_lint.readers.python.eval.operators import equal, same_object
from mfsdp_lint.readers.python.state.calling import (
    BREAK,
    CONTINUE,
    RUNNERS,
    GeneratorCall,
    Signal,
    evaluate,
    head,
    invoke,
    run_block,
)
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.parsing import Unread, UnreadableBody
from mfsdp_lint.readers.python.state.paths import ANY, CannotJoin, Place, Raised, kept
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.state.truth import decide, truth
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import EQUAL, MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Instance,
    IteratorObject,
    ListObject,
    Native,
    Object,
    Partial,
    PartlyKnown,
    SetObject,
    Unknown,
    all_are,
    uncertain,
)


def run_try(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    try:
        signal = _guarded(interp, node, frame)
    except Raised:
        final = run_block(interp, node.finalbody, frame)
        if final is not None:
            return final
        raise
    final = run_block(interp, node.finalbody, frame)
    return final if final is not None else signal


def _guarded(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    before = interp.doubts
    doubtful = since = -1
    signal: Signal = None
    error: Raised | None = None
    outermost = interp.path.written is None
    written: list[Place] = interp.path.written if interp.path.written is not None else []
    interp.path.written = written
    try:
        for statement in node.body:
            mark, behind = len(interp.path.journal), len(written)
            try:
                signal = run_block(interp, [statement], frame)
            except Raised as raised:
                error = kept(raised)
            if doubtful < 0 and interp.doubts != before:
                doubtful, since = mark, behind
            if signal is not None or error is not None:
                break
    finally:
        if outermost:
            interp.path.written = None

    def through() -> Signal:
        if error is None:
            return run_block(interp, node.orelse, frame) if signal is None else signal
        handler = _matching(interp, node.handlers, error, frame)
        if handler is None:
            raise error
        return _handle(interp, handler, error, frame)

    handlers = [each for each in node.handlers if doubtful >= 0 and _may_run(interp, each, frame)]
    return _maybe_handled(interp, node, handlers, frame, doubtful, written[since:], through) if handlers else through()


def _may_run(interp: Interpreter, handler: ast.ExceptHandler, frame: Frame) -> bool:
    """Tell whether something that was not followed may raise an exception for a handler: what the program itself
    defines, only the program raises."""
    raised = interp.dependencies.raises
    if handler.type is None or ANY in raised:
        return True
    with suppress(Raised):
        caught = interp.settle(evaluate(interp, handler.type, frame))
        if isinstance(caught, ClassObject) and caught.module.is_project:
            return caught.name in raised
    return True


def _maybe_handled(
    interp: Interpreter,
    node: Any,
    handlers: list[ast.ExceptHandler],
    frame: Frame,
    mark: int,
    written: list[Place],
    through: Callable[[], Signal],
) -> Signal:
    """Handle a body that did something that may raise: either it ran through, or a handler ran.

    `written` holds all writes of the body: those on abandoned paths as well, and those that were overwritten.
    """
    done = interp.changes(mark)
    interp.rollback(mark)

    def redo(changes: Collection[Place], certain: bool) -> None:
        interp.charge(len(changes))
        for owner, fields, key, value in changes:
            old = fields.get(key, MISSING)
            # Not by `place`: a `try` around this one has it among what was written already.
            interp.path.journal.append((owner, fields, key, old))
            fields[key] = value if certain else perhaps(interp, owner, fields, key, old, value)
            if fields[key] is MISSING:
                del fields[key]

    def ran() -> Signal:
        redo(done.values(), True)
        return through()

    def by(handler: ast.ExceptHandler) -> Signal:
        # It may have been raised before or behind any write of the body.
        redo(written, False)
        return _handle(interp, handler, Raised("Exception", ""), frame)

    outcome = interp.unknown("an exception", not_none=True)
    return undecided(
        interp,
        outcome,
        lambda: f"no exception in `{head(node.body[0])}`",
        ran,
        lambda: _handled(interp, handlers, by),
    )


def _handled(
    interp: Interpreter, handlers: list[ast.ExceptHandler], by: Callable[[ast.ExceptHandler], Signal]
) -> Signal:
    """Run one of several handlers for an exception; which one is not known."""
    if len(handlers) == 1:
        return by(handlers[0])
    which = interp.unknown("which exception", not_none=True)
    return undecided(
        interp,
        which,
        lambda: f"`{_handled_type(handlers[0])}`",
        lambda: _handled(interp, handlers[:1], by),
        lambda: _handled(interp, handlers[1:], by),
    )


def _handled_type(handler: ast.ExceptHandler) -> str:
    return "except" if handler.type is None else f"except {ast.unparse(handler.type)}"


def _handle(interp: Interpreter, handler: ast.ExceptHandler, error: Raised, frame: Frame) -> Signal:
    if handler.name:
        known = isinstance(error.value, (Instance, Unknown))
        value = error.value if known else interp.unknown(handler.name, not_none=True)
        interp.put(frame, handler.name, value)
    outer, frame.handling = frame.handling, (handler.name, error)
    try:
        return run_block(interp, handler.body, frame)
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
    interp: Interpreter, handlers: list[ast.ExceptHandler], error: Raised, frame: Frame
) -> ast.ExceptHandler | None:
    names = _ancestors(error.name) | CATCH_ALL
    if isinstance(error.value, Instance) and isinstance(error.value.cls, ClassObject):
        for name in class_names(interp, error.value.cls):
            names |= _ancestors(name.rpartition(".")[2])
    for handler in handlers:
        if handler.type is None or names & _caught(interp, handler.type, frame):
            return handler
    return None


def _caught(interp: Interpreter, node: ast.expr, frame: Frame) -> set[str]:
    """Return the names of the exceptions that a handler is for."""
    spelled = node.elts if isinstance(node, ast.Tuple) else [node]
    found = {ast.unparse(one).rpartition(".")[2] for one in spelled}
    with suppress(Raised):
        value = interp.settle(evaluate(interp, node, frame))
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, (ClassObject, External)):
                found.add(one.name.rpartition(".")[2])
    return found


def run_raise(interp: Interpreter, node: ast.Raise, frame: Frame) -> Signal:
    if frame.handling is not None and (
        node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == frame.handling[0])
    ):
        raise frame.handling[1]
    if node.exc is None:
        raise Raised("Exception", "re-raised")
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    error = Raised(ast.unparse(target).rpartition(".")[2], "")
    doubts = interp.doubts
    with suppress(Raised):
        error.value = evaluate(interp, node.exc, frame)
        error.text = _message(interp, node.exc, frame)
    interp.doubts = doubts  # that it raises is certain
    if isinstance(error.value, Instance) and isinstance(error.value.cls, ClassObject):
        error.name = error.value.cls.name
        interp.dependencies.raises.update(each.rpartition(".")[2] for each in class_names(interp, error.value.cls))
    else:
        interp.dependencies.raises.add(error.name if error.name in vars(builtins) else ANY)
    raise error


def _message(interp: Interpreter, node: ast.expr, frame: Frame) -> str:
    """Return what an exception says, with a question mark for each part that is not known."""
    arguments = node.args if isinstance(node, ast.Call) else []
    said = interp.settle(evaluate(interp, arguments[0], frame)) if len(arguments) == 1 else ""
    text = said if isinstance(said, str) else said.said if isinstance(said, PartlyKnown) else ""
    return " ".join(re.sub(f"{HOLE}+", "?", text[:_LONGEST_MESSAGE]).split())


_LONGEST_MESSAGE = 300


def run_assert(interp: Interpreter, node: ast.Assert, frame: Frame) -> Signal:
    value = evaluate(interp, node.test, frame)
    known = known_truth(interp, value, node.test, frame)
    if known is False:
        raise Raised("AssertionError", "")
    if known is None:
        interp.doubts += 1
        decide(interp, value, True)
    return None


def _enter(interp: Interpreter, node: Any, items: list[ast.withitem], frame: Frame) -> Signal:
    if not items:
        return run_block(interp, node.body, frame)
    first, rest = items[0], items[1:]
    manager = evaluate(interp, first.context_expr, frame)
    if isinstance(manager, GeneratorCall):
        return _with_generator(interp, node, first, rest, manager, frame)
    if isinstance(manager, Partial) and getattr(manager.function, "name", "") == "contextlib.suppress":
        # As `try: ... except ...: pass`.
        caught = ast.Tuple(first.context_expr.args, ast.Load()) if isinstance(first.context_expr, ast.Call) else None
        handler = ast.copy_location(ast.ExceptHandler(caught, None, []), first.context_expr)
        body = [ast.copy_location(ast.With(rest, node.body), node)] if rest else node.body
        return _guarded(interp, ast.copy_location(ast.Try(body, [handler], [], []), node), frame)
    value: Object = interp.unknown(ast.unparse(first.context_expr), not_none=False)
    leave: Object = None
    if isinstance(manager, Instance) and isinstance(manager.cls, ClassObject):
        value = invoke(interp, get_attribute(interp, manager, "__enter__", None, frame), Call([], {}, node, frame))
        leave = get_attribute(interp, manager, "__exit__", None, frame)
    elif isinstance(manager, Unknown) and isinstance(manager.fields.get("__enter__"), Native):
        value = invoke(interp, manager.fields["__enter__"], Call([], {}, node, frame))
    if first.optional_vars is not None:
        assign(interp, first.optional_vars, value, node, frame)
    if leave is None:
        return _enter(interp, node, rest, frame)
    try:
        signal = _enter(interp, node, rest, frame)
    except Raised as error:
        kind = error.value.cls if isinstance(error.value, Instance) else External(error.name)
        unknown = [interp.unknown("", not_none=True), interp.unknown("", not_none=True)]
        swallowed = truth(interp, invoke(interp, leave, Call([kind, *unknown], {}, node, frame)))
        if swallowed is not False:
            # Where that is not known: a run that goes on swallowed it.
            return None
        raise
    invoke(interp, leave, Call([None, None, None], {}, node, frame))
    return signal


def _with_generator(
    interp: Interpreter, node: Any, first: ast.withitem, rest: list[ast.withitem], manager: GeneratorCall, frame: Frame
) -> Signal:
    """Run a `with` block over a @contextmanager function: the block runs where the function yields."""
    result: list[Signal] = [None]

    def body(value: Object) -> Object:
        if first.optional_vars is not None:
            assign(interp, first.optional_vars, value, node, frame)
        result[0] = _enter(interp, node, rest, frame)
        return None

    manager.run(body)
    return result[0]


def run_match(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    return _match_cases(interp, interp.settle(evaluate(interp, node.subject, frame)), node.cases, node, frame)


def _match_cases(interp: Interpreter, subject: Object, cases: list[Any], node: Any, frame: Frame) -> Signal:
    if not cases:
        return None
    interp.step()  # the cases behind one with a guard are tried on both of its ways
    case, rest = cases[0], cases[1:]
    found = matches(interp, subject, case.pattern, node, frame)
    if found is not False:
        _remember_captures(case.pattern, node.subject, frame)
    if found is True:
        return _guarded_case(interp, subject, case, rest, node, frame)
    if found is False:
        return _match_cases(interp, subject, rest, node, frame)
    question = interp.unknown(f"{ast.unparse(node.subject)} matches {ast.unparse(case.pattern)}", not_none=True)
    if isinstance(case.pattern, ast.MatchValue) and isinstance(subject, Unknown):
        answer = evaluate(interp, case.pattern.value, frame)
        # (1, 1.0 and True match each other.)
        if isinstance(answer, str) or (isinstance(answer, (int, float)) and answer not in (0, 1)):
            question.fields[EQUAL] = (subject, answer)
    return undecided(
        interp,
        question,
        lambda: question.text,
        lambda: _guarded_case(interp, subject, case, rest, node, frame),
        lambda: _match_cases(interp, subject, rest, node, frame),
    )


def _guarded_case(interp: Interpreter, subject: Object, case: Any, rest: list[Any], node: Any, frame: Frame) -> Signal:
    if case.guard is None:
        return run_block(interp, case.body, frame)
    return branch(
        interp,
        case.guard,
        frame,
        lambda: run_block(interp, case.body, frame),
        lambda: _match_cases(interp, subject, rest, node, frame),
    )


def matches(interp: Interpreter, subject: Object, pattern: Any, node: Any, frame: Frame) -> bool | None:
    """Tell whether a `case` pattern matches, binding its names; None if that is not known."""
    subject = interp.settle(subject)
    match pattern:
        case ast.MatchValue(value=value):
            return equal(interp, subject, evaluate(interp, value, frame))
        case ast.MatchSingleton(value=value):
            return same_object(subject, value)
        case ast.MatchAs(pattern=inner, name=name):
            found = True if inner is None else matches(interp, subject, inner, node, frame)
            if name is not None and found is not False:
                assign_name(interp, name, subject, frame)
            return found
        case ast.MatchOr(patterns=patterns):
            return _match_any(interp, subject, patterns, node, frame)
        case ast.MatchSequence(patterns=patterns):
            return _match_sequence(interp, subject, patterns, node, frame)
        case ast.MatchMapping():
            return _match_mapping(interp, subject, pattern, node, frame)
        case ast.MatchClass():
            return _match_class(interp, subject, pattern, node, frame)
    return _match_perhaps(interp, pattern, frame)


def _remember_captures(pattern: Any, subject: ast.expr, frame: Frame) -> None:
    """Remember of which part of the subject each name of a pattern is bound to."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None and name in frame.fields:
                bind(name, frame.fields[name], subject, frame)
            if inner is not None:
                _remember_captures(inner, subject, frame)
        case ast.MatchSequence(patterns=patterns):
            for place, each in enumerate(patterns):
                if isinstance(each, ast.MatchStar):
                    break
                _remember_captures(each, ast.Subscript(subject, ast.Constant(place), ast.Load()), frame)
        case ast.MatchMapping(keys=keys, patterns=patterns):
            for key, each in zip(keys, patterns, strict=True):
                _remember_captures(each, ast.Subscript(subject, key, ast.Load()), frame)
        case ast.MatchClass(cls=ast.Name(id="str" | "int" | "float" | "bool"), patterns=[inner]):
            _remember_captures(inner, subject, frame)
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            for name, each in zip(names, patterns, strict=True):
                _remember_captures(each, ast.Attribute(subject, name, ast.Load()), frame)


def _match_perhaps(interp: Interpreter, pattern: Any, frame: Frame) -> bool | None:
    """Bind the names of a pattern to unknown values, where it is not known whether the pattern matches."""
    for inner in ast.walk(pattern):
        if isinstance(inner, (ast.MatchAs, ast.MatchStar)) and inner.name:
            assign_name(interp, inner.name, interp.unknown(), frame)
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            assign_name(interp, inner.rest, interp.unknown(), frame)
    return None


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _match_any(interp: Interpreter, subject: Object, patterns: list[Any], node: Any, frame: Frame) -> bool | None:
    # The first that matches binds the names.
    for place, pattern in enumerate(patterns):
        answer = matches(interp, subject, pattern, node, frame)
        if answer is None:
            rest = [matches(interp, subject, later, node, frame) for later in patterns[place + 1 :]]
            for each in patterns:
                _match_perhaps(interp, each, frame)
            return True if True in rest else None
        if answer:
            return True
    return False


def _match_sequence(interp: Interpreter, subject: Object, patterns: list[Any], node: Any, frame: Frame) -> bool | None:
    if isinstance(subject, (*CONSTANTS, DictObject, SetObject, frozenset, IteratorObject, EnumMember)):
        return False
    items = list(subject) if isinstance(subject, tuple) else subject.items if isinstance(subject, ListObject) else None
    if items is None or any(map(uncertain, items)):
        return _match_perhaps(interp, ast.MatchSequence(patterns), frame)
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
            assign_name(interp, patterns[star].name, ListObject(items[star:end], interp.tick()), frame)
    return _all([matches(interp, item, one, node, frame) for item, one in pairs])


def _match_mapping(
    interp: Interpreter, subject: Object, pattern: ast.MatchMapping, node: Any, frame: Frame
) -> bool | None:
    if isinstance(subject, (*CONSTANTS, tuple, frozenset, ListObject, EnumMember)):
        return False
    if not isinstance(subject, DictObject) or subject.writes.get(MAY_HAVE_CHANGED):
        return _match_perhaps(interp, pattern, frame)
    keys = [plain_key(interp, evaluate(interp, key, frame)) for key in pattern.keys]
    if not all(map(hashable, keys)):
        return _match_perhaps(interp, pattern, frame)
    if any(key not in subject.fields for key in keys):
        return False
    if any(map(uncertain, subject.fields.values())):
        return _match_perhaps(interp, pattern, frame)
    found = [
        matches(interp, subject.fields[key], one, node, frame) for key, one in zip(keys, pattern.patterns, strict=True)
    ]
    if pattern.rest:
        rest = DictObject({key: item for key, item in subject.fields.items() if key not in keys}, interp.tick())
        rest.writes = {key: write for key, write in subject.writes.items() if key in rest.fields}
        assign_name(interp, pattern.rest, rest, frame)
    return _all(found)


ITSELF = {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
"""Built-in types whose only positional pattern is the subject itself."""


def _match_class(interp: Interpreter, subject: Object, pattern: ast.MatchClass, node: Any, frame: Frame) -> bool | None:
    cls = interp.settle(evaluate(interp, pattern.cls, frame))
    answer = is_instance(interp, subject, cls)
    if answer is False:
        return False
    if answer is None:
        return _match_perhaps(interp, pattern, frame)
    answers: list[bool | None] = []
    names: list[str] = []
    if pattern.patterns and isinstance(cls, Native) and cls.name.removeprefix("builtins.") in ITSELF:
        answers.append(matches(interp, subject, pattern.patterns[0], node, frame))
    elif pattern.patterns:
        order = _positions(interp, cls, frame)
        if order is None:
            return _match_perhaps(interp, pattern, frame)
        if len(order) < len(pattern.patterns):
            raise Raised("TypeError", "too many positional patterns")
        names = order[: len(pattern.patterns)]
    inner = [*(pattern.patterns if names else ()), *pattern.kwd_patterns]
    for name, one in zip([*names, *pattern.kwd_attrs], inner, strict=True):
        try:
            answers.append(matches(interp, get_attribute(interp, subject, name, None, frame), one, node, frame))
        except Raised:
            return False
    return _all(answers)


def _positions(interp: Interpreter, cls: Object, frame: Frame) -> list[str] | None:
    """List the attributes that positional patterns of a class match, in order; None if they are not known."""
    if not isinstance(cls, ClassObject):
        return None
    given = interp.settle(lookup(interp, cls, "__match_args__")[0])
    if isinstance(given, tuple) and all_are(given, str):
        return list(given)
    if given is not MISSING or opaque(interp, cls):
        return None
    if has_fields(interp, cls) or has_base(interp, cls, NAMED_TUPLE):
        return [spec.name for spec in fields_of(interp, cls) if spec.init and not spec.keyword_only]
    return []


def _expression(interp: Interpreter, node: ast.Expr, frame: Frame) -> Signal:
    if not isinstance(node.value, ast.Constant):
        evaluate(interp, node.value, frame)
    return None


def _return(interp: Interpreter, node: ast.Return, frame: Frame) -> Signal:
    value = None if node.value is None else evaluate(interp, node.value, frame)
    interp.returned = None if node.value is None else (frame.node, Text(node.value, frame))
    return ("return", value)


def _if(interp: Interpreter, node: ast.If, frame: Frame) -> Signal:
    test = node.test
    value = evaluate(interp, test, frame)
    known = known_truth(interp, value, test, frame)
    if known is not None:
        return run_block(interp, node.body if known else node.orelse, frame)
    return undecided(
        interp,
        value,
        lambda: ast.unparse(test),
        lambda: run_block(interp, node.body, frame),
        (lambda: run_block(interp, node.orelse, frame)) if node.orelse else nothing,
    )


def _unreadable(interp: Interpreter, node: UnreadableBody, frame: Frame) -> Signal:
    raise CannotJoin


def _import(interp: Interpreter, node: Any, frame: Frame) -> Signal:
    # (What upstream itself tries to import is taken to be installed with it.)
    upstream = frame.module.name.startswith("megatron.")
    if interp.path.written is None or upstream or not import_guarded(interp, node, frame):
        bind_import(interp, node, frame)
    return None


RUNNERS.update(
    {
        ast.Assign: run_assign,
        ast.AnnAssign: run_annotated,
        ast.AugAssign: run_augmented,
        ast.Delete: run_delete,
        ast.FunctionDef: run_define_function,
        Unread: run_define_function,
        UnreadableBody: _unreadable,
        ast.AsyncFunctionDef: run_define_function,
        ast.ClassDef: run_define_class,
        ast.Global: run_scope,
        ast.Nonlocal: run_scope,
        ast.Expr: _expression,
        ast.Return: _return,
        ast.If: _if,
        ast.For: run_for,
        ast.AsyncFor: run_for,
        ast.While: run_while,
        ast.Try: run_try,
        ast.Raise: run_raise,
        ast.Assert: run_assert,
        ast.With: lambda interp, node, frame: _enter(interp, node, node.items, frame),
        ast.AsyncWith: lambda interp, node, frame: _enter(interp, node, node.items, frame),
        ast.Match: run_match,
        ast.Import: _import,
        ast.ImportFrom: _import,
        ast.Pass: lambda interp, node, frame: None,
        ast.Break: lambda interp, node, frame: BREAK,
        ast.Continue: lambda interp, node, frame: CONTINUE,
    }
)
if hasattr(ast, "TryStar"):
    RUNNERS[ast.TryStar] = run_try
