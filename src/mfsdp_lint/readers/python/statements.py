"""Running statements."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.attributes import get_attribute, set_attribute
from mfsdp_lint.readers.python.branches import Signal, branch, known_truth, perhaps, truth, undecided
from mfsdp_lint.readers.python.calls import call, evaluate_defaults
from mfsdp_lint.readers.python.classes import ClassObject
from mfsdp_lint.readers.python.comparisons import equal
from mfsdp_lint.readers.python.containers import (
    LONGEST,
    GeneratorCall,
    delete_entry,
    entry,
    iterate,
    present,
    set_entry,
    uncertain,
)
from mfsdp_lint.readers.python.expressions import binary, evaluate
from mfsdp_lint.readers.python.imports import Deferred, bind_import
from mfsdp_lint.readers.python.limits import LONGEST_LIST
from mfsdp_lint.readers.python.machine import CannotMerge, Frame, Machine, OutOfSteps, Raised, join
from mfsdp_lint.readers.python.objects import (
    MISSING,
    Choice,
    Descriptor,
    DictObject,
    External,
    Function,
    Instance,
    IteratorObject,
    ListObject,
    Object,
    Partial,
    Unknown,
)

BREAK = ("break", None)
CONTINUE = ("continue", None)
LOOP_LIMIT = 20_000
CHOICES_WALKED = 4


class _Leave(Exception):
    """A loop or `with` body that runs inside a generator leaves it."""

    def __init__(self, signal: Signal, loop: GeneratorCall) -> None:
        super().__init__()
        self.signal = signal
        self.loop = loop


def run_block(machine: Machine, body: list[ast.stmt], frame: Frame) -> Signal:
    """Run statements in order; how they ended (see branches.Signal)."""
    for statement in body:
        machine.step()
        signal = RUNNERS[type(statement)](machine, statement, frame)
        if signal is not None:
            return signal
    return None


def run_isolated(machine: Machine, body: list[ast.stmt], frame: Frame) -> None:
    """Run a module's or class's body outside of any recipe: what it makes is shared, and nothing undoes it.

    A statement that cannot be run leaves the names it would bind unknown; the others run on.
    """

    def run() -> None:
        for statement in body:
            try:
                run_block(machine, [statement], frame)
            except Raised:
                for name in bound_names(statement):
                    frame.fields.setdefault(name, machine.unknown(name))
            except (CannotMerge, OutOfSteps, RecursionError):
                for name in bound_names(statement):
                    frame.fields[name] = machine.unknown(name)

    isolated(machine, run)


def bound_names(statement: ast.AST) -> list[str]:
    """The names that a statement binds, wherever in it."""
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return names


# -- assignments ----------------------------------------------------------------------------------------------------


def _assign_statement(machine: Machine, node: ast.Assign, frame: Frame) -> Signal:
    value = evaluate(machine, node.value, frame)
    for target in node.targets:
        assign(machine, target, value, frame, node, node.value)
    return None


def assign(machine: Machine, target: ast.expr, value: Object, frame: Frame, node: Any, focus: Any = None) -> None:
    """`target = value`, done by the statement `node`; `focus` is the expression that says the value."""
    if isinstance(target, ast.Name):
        assign_name(machine, target.id, value, frame)
    elif isinstance(target, ast.Attribute):
        set_attribute(machine, evaluate(machine, target.value, frame), target.attr, value, frame, node, focus)
    elif isinstance(target, ast.Subscript):
        holder = evaluate(machine, target.value, frame)
        key = evaluate(machine, target.slice, frame)
        if _is_environment(machine, holder):
            holder = machine.environment
        set_entry(machine, holder, key, value, frame, node, focus)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, target, value, frame, node)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value, frame, node)


def _is_environment(machine: Machine, holder: Object) -> bool:
    return isinstance(holder, External) and holder.name == "os.environ"


def assign_name(machine: Machine, name: str, value: Object, frame: Frame) -> None:
    """`name = value` in `frame`, honouring `global` and `nonlocal`."""
    machine.put(frame.outer.get(name, frame), name, value)


def _unpack(machine: Machine, target: ast.Tuple | ast.List, value: Object, frame: Frame, node: Any) -> None:
    items = iterate(machine, value, frame)
    names = target.elts
    starred = next((i for i, one in enumerate(names) if isinstance(one, ast.Starred)), None)
    if items is None:
        for name in names:
            assign(
                machine,
                name,
                ListObject(None, machine.tick()) if isinstance(name, ast.Starred) else machine.unknown(),
                frame,
                node,
            )
        return
    if starred is None:
        if len(items) != len(names):
            raise Raised("ValueError", "wrong number of values to unpack")
        parts = list(items)
        values = (
            node.value.elts
            if isinstance(getattr(node, "value", None), (ast.Tuple, ast.List)) and len(node.value.elts) == len(names)
            else names
        )
    else:
        after = len(names) - starred - 1
        if len(items) < starred + after:
            raise Raised("ValueError", "not enough values to unpack")
        middle = ListObject(list(items[starred : len(items) - after]), machine.tick())
        parts = [*items[:starred], middle, *items[len(items) - after :]]
        values = names
    for name, part, focus in zip(names, parts, values, strict=True):
        assign(machine, name, part, frame, node, focus if focus is not name else None)


def _annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> Signal:
    if node.value is not None:
        assign(machine, node.target, evaluate(machine, node.value, frame), frame, node, node.value)
    return None


def _augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> Signal:
    target = node.target
    if isinstance(target, ast.Name):
        current = evaluate(machine, ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
        assign_name(machine, target.id, _added(machine, node, current, frame), frame)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(machine, target.value, frame)
        current = get_attribute(machine, owner, target.attr, frame, node)
        set_attribute(machine, owner, target.attr, _added(machine, node, current, frame), frame, node, node.value)
    else:
        owner = evaluate(machine, target.value, frame)
        key = evaluate(machine, target.slice, frame)
        current = entry(machine, owner, key, frame, node)
        set_entry(machine, owner, key, _added(machine, node, current, frame), frame, node, node.value)
    return None


def _added(machine: Machine, node: ast.AugAssign, current: Object, frame: Frame) -> Object:
    value = evaluate(machine, node.value, frame)
    current = machine.settle(current)
    if isinstance(current, ListObject) and isinstance(node.op, ast.Add):
        # A list is extended in place: other names for it see the change.
        more = iterate(machine, value, frame)
        known = more is not None and current.items is not None and len(current.items) + len(more) <= LONGEST_LIST
        machine.put(current, "items", current.items + more if known else None)
        return current
    if isinstance(current, (DictObject, ListObject)) and not isinstance(node.op, (ast.Add, ast.Mult)):
        found = binary(machine, type(node.op), current, value)
        if isinstance(current, DictObject) and isinstance(found, DictObject):
            for key, item in found.fields.items():
                machine.put(current, key, item)
            if found.writes.get("<hazy>"):
                machine.record(current, "<hazy>", True)
            return current
        if isinstance(current, ListObject) and isinstance(found, ListObject):
            machine.put(current, "items", found.items)
            return current
        # Changed in place, in a way that is not known.
        machine.havoc(current)
        return current
    return binary(machine, type(node.op), current, value)


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> Signal:
    for target in node.targets:
        if isinstance(target, ast.Name):
            owner: Any = frame.outer.get(target.id, frame)
            if target.id not in owner.fields:
                raise Raised("NameError", target.id)
            machine.drop(owner, target.id)
        elif isinstance(target, ast.Attribute):
            owner = evaluate(machine, target.value, frame)
            if isinstance(owner, (Instance, Unknown)):
                machine.drop(owner, target.attr)
        elif isinstance(target, ast.Subscript):
            holder = evaluate(machine, target.value, frame)
            if _is_environment(machine, holder):
                machine.put(machine.environment, evaluate(machine, target.slice, frame), None)
            else:
                delete_entry(machine, holder, evaluate(machine, target.slice, frame))
    return None


# -- definitions ----------------------------------------------------------------------------------------------------


def _define_function(machine: Machine, node: Any, frame: Frame) -> Signal:
    _bind_definition(machine, node, frame, lambda: _make_function(machine, node, frame))
    return None


def _make_function(machine: Machine, node: Any, frame: Frame) -> Object:
    closure = None if frame.fields is frame.module.fields else frame
    function = Function(node, frame.module, closure, node.name, frame.cls if frame.is_class else None)
    evaluate_defaults(machine, function, node.args, frame)
    return function


def _define_class(machine: Machine, node: ast.ClassDef, frame: Frame) -> Signal:
    closure = None if frame.fields is frame.module.fields else frame
    _bind_definition(machine, node, frame, lambda: ClassObject(node.name, frame.module, node, closure))
    return None


def _bind_definition(machine: Machine, node: Any, frame: Frame, make: Callable[[], Object]) -> None:
    def decorated() -> Object:
        value = make()
        for decorator in reversed(node.decorator_list):
            value = _decorate(machine, decorator, value, frame)
        return value

    if not node.decorator_list:
        assign_name(machine, node.name, make(), frame)
    elif frame.fields is frame.module.fields and not isinstance(frame.fields.get(node.name), Function):
        # Decorators of a module's own definitions are looked at when the name is first used.
        frame.fields[node.name] = Deferred(lambda: _outside(machine, decorated))
        frame.module.decorated.append(node.name)
    else:
        assign_name(machine, node.name, decorated(), frame)


def _outside(machine: Machine, make: Callable[[], Object]) -> Object:
    try:
        return isolated(machine, make)
    except (Raised, CannotMerge, OutOfSteps, RecursionError):
        return machine.unknown("decorated")


def isolated(machine: Machine, make: Callable[[], Object]) -> Object:
    """Evaluate something outside of any recipe: what it makes is shared, and nothing undoes it."""
    saved = machine.journal, machine.facts, machine.trial, machine.steps, machine.called, machine.local
    shared = machine.changed_shared
    machine.journal, machine.trial, machine.local, machine.steps = [], 0, None, 0
    machine.facts = type(machine.facts)()
    machine.module_level += 1
    try:
        return make()
    finally:
        machine.module_level -= 1
        machine.journal, machine.facts, machine.trial, machine.steps, machine.called, machine.local = saved
        machine.changed_shared = shared


def _decorate(machine: Machine, node: ast.expr, value: Object, frame: Frame) -> Object:
    from mfsdp_lint.readers.python.library import decorate

    if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter"):
        former = frame.fields.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(former, Descriptor):
            return Descriptor("property", former.function, value if node.attr == "setter" else former.setter)
        return value
    try:
        decorator = evaluate(machine, node, frame)
    except Raised:
        return value
    if isinstance(decorator, (Function, Instance)) or (
        isinstance(decorator, ClassObject) and not isinstance(value, ClassObject)
    ):
        if not isinstance(value, ClassObject):
            return call(machine, decorator, [value], {}, node, frame)
        try:
            made = call(machine, decorator, [value], {}, node, frame)
        except Raised:
            return value
        return made if isinstance(made, ClassObject) else value
    return decorate(machine, decorator, value)


def _scope_statement(machine: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> Signal:
    for name in node.names:
        owner: Any = frame.module
        if isinstance(node, ast.Nonlocal):
            here = frame.enclosing
            while here is not None and name not in here.fields:
                here = here.enclosing
            owner = here or frame
        frame.outer = {**frame.outer, name: owner}
    return None


# -- control flow ---------------------------------------------------------------------------------------------------


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> Signal:
    if not isinstance(node.value, ast.Constant):
        evaluate(machine, node.value, frame)
    return None


def _return(machine: Machine, node: ast.Return, frame: Frame) -> Signal:
    return ("return", None if node.value is None else evaluate(machine, node.value, frame))


def _if(machine: Machine, node: ast.If, frame: Frame) -> Signal:
    return branch(
        machine,
        node.test,
        frame,
        lambda: run_block(machine, node.body, frame),
        lambda: run_block(machine, node.orelse, frame),
    )


def _head(node: ast.stmt) -> str:
    """The first line of a statement: a condition is told in words of the program, never by line, which edits move."""
    return ast.unparse(node).partition("\n")[0]


def _for(machine: Machine, node: Any, frame: Frame) -> Signal:
    return _over(machine, node, machine.settle(evaluate(machine, node.iter, frame)), frame)


def _over(machine: Machine, node: Any, iterable: Object, frame: Frame) -> Signal:
    if isinstance(iterable, GeneratorCall) and iterable.state == "new":
        return _for_generator(machine, node, iterable, frame)
    if isinstance(iterable, Choice) and len(iterable.options) <= CHOICES_WALKED:
        return _over_one_of(machine, node, iterable.options, frame)
    items = iterable.items if isinstance(iterable, ListObject) else iterate(machine, iterable, frame)
    if items is None:
        return _unknown_turns(
            machine, node, frame, lambda: assign(machine, node.target, machine.unknown(), frame, node)
        )
    if isinstance(iterable, IteratorObject):
        # What a loop that is left early has not taken is not worked out.
        machine.put(iterable, "items", None)
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        if uncertain(item):
            signal = _maybe_turn(machine, node, present(machine, item), frame)
        else:
            signal = _turn(machine, node, item, frame)
        if signal is BREAK:
            return None
        if signal is not None:
            return signal
        if type(iterable) is ListObject and iterable.items is not items:
            # Python walks the list itself, as it is by now.
            items = iterable.items
            if items is None or len(items) > LONGEST:
                return _unknown_turns(
                    machine, node, frame, lambda: assign(machine, node.target, machine.unknown(), frame, node)
                )
    if isinstance(iterable, IteratorObject):
        machine.put(iterable, "items", [])
        if iterable.error is not None:
            raise iterable.error
    return run_block(machine, node.orelse, frame)


def _over_one_of(machine: Machine, node: Any, options: tuple[Object, ...], frame: Frame) -> Signal:
    """A loop over one of several iterables: each is walked on its own."""
    if len(options) == 1:
        return _over(machine, node, options[0], frame)
    question = machine.unknown(ast.unparse(node.iter), not_none=True)
    return undecided(
        machine,
        question,
        lambda: f"`{_head(node)}` walks its first choice",
        lambda: _over(machine, node, options[0], frame),
        lambda: _over_one_of(machine, node, options[1:], frame),
    )


def _turn(machine: Machine, node: Any, item: Object, frame: Frame) -> Signal:
    machine.step()
    assign(machine, node.target, item, frame, node)
    signal = run_block(machine, node.body, frame)
    return None if signal is CONTINUE else signal


def _maybe_turn(machine: Machine, node: Any, item: Object, frame: Frame) -> Signal:
    question = machine.unknown("element", not_none=True)
    return undecided(
        machine,
        question,
        lambda: f"`{_head(node)}` meets an optional element",
        lambda: _turn(machine, node, item, frame),
        lambda: None,
    )


def _for_generator(machine: Machine, node: Any, generator: GeneratorCall, frame: Frame) -> Signal:
    def turn(item: Object) -> Object:
        machine.step()
        assign(machine, node.target, item, frame, node)
        signal = run_block(machine, node.body, frame)
        if signal is not None and signal is not CONTINUE:
            raise _Leave(signal, generator)
        return None

    mark = len(machine.journal)
    try:
        generator.run(turn)
    except CannotMerge:
        machine.rollback(mark)
        for value in list(generator.frame.fields.values()):
            machine.havoc(value)
        return _unknown_turns(
            machine, node, frame, lambda: assign(machine, node.target, machine.unknown(), frame, node)
        )
    except _Leave as left:
        if left.loop is not generator:
            raise
        return None if left.signal is BREAK else left.signal
    if not generator.left_by:
        return run_block(machine, node.orelse, frame)
    results = [signal[1] for signal in generator.left_by if signal[0] == "return"]
    outcome = machine.unknown("loop")

    def ended() -> Signal:
        return _behind(machine, node, frame)

    if not results:
        return ended()
    text = f"line {node.lineno} returns"
    return undecided(machine, outcome, lambda: text, lambda: ("return", join(machine, results)), ended)


def _while(machine: Machine, node: ast.While, frame: Frame) -> Signal:
    def again() -> None:
        evaluate(machine, node.test, frame)

    for _ in range(LOOP_LIMIT):
        machine.step()
        value = evaluate(machine, node.test, frame)
        known = known_truth(machine, value, frame, node.test)
        if known is None:
            return _unknown_turns(machine, node, frame, again)
        if not known:
            return run_block(machine, node.orelse, frame)
        signal = run_block(machine, node.body, frame)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
    return _unknown_turns(machine, node, frame, again)


def _unknown_turns(machine: Machine, node: Any, frame: Frame, start: Callable[[], None]) -> Signal:
    """A loop whose number of turns is not known: what its body writes may be anything afterwards.

    The body is run twice, the second time on what the first left unknown, to find all it can write.
    """
    mark = len(machine.journal)
    leaves = False
    results: list[Object] = []
    for _ in range(2):
        turn = len(machine.journal)
        machine.trial += 1
        try:
            start()
            signal = run_block(machine, node.body, frame)
            if signal is not None and signal[0] == "return":
                leaves = True
                results.append(signal[1])
        except Raised:
            pass
        except _Leave as left:
            # The loop runs in a generator, and whoever walks over that may leave here.
            left.loop.left_by.append(left.signal)
        except CannotMerge:
            if frame.on_yield is not None:
                raise
            _forget_everything(machine, node, frame)
            returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
            leaves = leaves or bool(returned)
            results += [_returned(machine, value, frame) for value in returned]
        finally:
            machine.trial -= 1
        _blur(machine, machine.changes(turn))
    _blur(machine, machine.changes(mark))
    if leaves:
        outcome = machine.unknown("loop")
        return undecided(
            machine,
            outcome,
            lambda: f"`{_head(node)}` returns",
            lambda: ("return", join(machine, results)),
            lambda: _behind(machine, node, frame),
        )
    return _behind(machine, node, frame)


def _returned(machine: Machine, node: ast.expr | None, frame: Frame) -> Object:
    return evaluate(machine, node, frame) if isinstance(node, (ast.Name, ast.Constant)) else machine.unknown()


def _behind(machine: Machine, node: Any, frame: Frame) -> Signal:
    """The `else` of a loop whose number of turns is not known."""
    if not node.orelse:
        return None
    if not any(isinstance(inner, ast.Break) for statement in node.body for inner in ast.walk(statement)):
        return run_block(machine, node.orelse, frame)
    outcome = machine.unknown("loop")
    text = f"`{_head(node)}` runs to its end"
    return undecided(machine, outcome, lambda: text, lambda: run_block(machine, node.orelse, frame), lambda: None)


def _blur(machine: Machine, changed: dict[Any, Any]) -> None:
    for owner, fields, key, value in changed.values():
        if owner is machine.facts or key == "<hazy>" or fields is getattr(owner, "writes", None):
            continue
        if isinstance(value, (Instance, DictObject, ListObject)):
            machine.havoc(value)
        new: Any = None if key == "items" and isinstance(owner, ListObject) else machine.unknown(str(key))
        machine.journal.append((owner, fields, key, fields.get(key, MISSING)))
        fields[key] = new
        if isinstance(owner, DictObject):
            machine.record(owner, "<hazy>", True)


def _forget_everything(machine: Machine, node: Any, frame: Frame) -> None:
    """The body could not be followed: all that its names and the module's reach may have changed."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Name):
            continue
        here: Frame | None = frame
        while here is not None and inner.id not in here.fields:
            here = here.enclosing
        if isinstance(inner.ctx, ast.Store):
            machine.put(frame.outer.get(inner.id, frame), inner.id, machine.unknown(inner.id))
        elif here is not None and here.fields is not frame.module.fields:
            machine.havoc(here.fields[inner.id])
    for value in list(frame.module.fields.values()):
        if isinstance(value, (Instance, DictObject, ListObject)):
            machine.havoc(value)


def _try(machine: Machine, node: Any, frame: Frame) -> Signal:
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
    doubtful = -1
    signal: Signal = None
    error: Raised | None = None
    outer, machine.abandoned = machine.abandoned, []
    try:
        for statement in node.body:
            mark = len(machine.journal)
            try:
                signal = run_block(machine, [statement], frame)
            except Raised as raised:
                error = raised
            if doubtful < 0 and machine.doubts != before:
                doubtful = mark
            if signal is not None or error is not None:
                break
    finally:
        abandoned, machine.abandoned = machine.abandoned, outer
        if outer is not None:
            outer.extend(abandoned or ())

    def through() -> Signal:
        if error is None:
            return run_block(machine, node.orelse, frame) if signal is None else signal
        handler = _matching(machine, node.handlers, error, frame)
        if handler is None:
            raise error
        return _handle(machine, handler, error, frame)

    if doubtful < 0 or not node.handlers:
        return through()
    return _maybe_handled(machine, node, frame, doubtful, abandoned or [], through)


def _maybe_handled(
    machine: Machine,
    node: Any,
    frame: Frame,
    mark: int,
    abandoned: list[dict[Any, Any]],
    through: Callable[[], Signal],
) -> Signal:
    """The body did something that may raise: either it ran through, or a handler did.

    `abandoned` are the changes of those ways through the body that raise.
    """
    done = machine.changes(mark)
    machine.rollback(mark)

    def redo(changes: dict[Any, Any], certain: bool) -> None:
        for owner, fields, key, value in changes.values():
            old = fields.get(key, MISSING)
            machine.journal.append((owner, fields, key, old))
            fields[key] = value if certain else perhaps(machine, owner, fields, key, old, value)
            if fields[key] is MISSING:
                del fields[key]

    def ran() -> Signal:
        redo(done, True)
        return through()

    def handled(handlers: list[ast.ExceptHandler]) -> Signal:
        if len(handlers) > 1:
            which = machine.unknown("which exception", not_none=True)
            return undecided(
                machine,
                which,
                lambda: f"`{_handled_type(handlers[0])}`",
                lambda: handled(handlers[:1]),
                lambda: handled(handlers[1:]),
            )
        # It may have been raised before or behind any write of the body.
        for changes in (done, *abandoned):
            redo(changes, False)
        return _handle(machine, handlers[0], Raised("Exception", ""), frame)

    outcome = machine.unknown("an exception", not_none=True)
    return undecided(
        machine, outcome, lambda: f"no exception in `{_head(node.body[0])}`", ran, lambda: handled(node.handlers)
    )


def _handled_type(handler: ast.ExceptHandler) -> str:
    return "except" if handler.type is None else f"except {ast.unparse(handler.type)}"


def _handle(machine: Machine, handler: ast.ExceptHandler, error: Raised, frame: Frame) -> Signal:
    if handler.name:
        machine.put(frame, handler.name, machine.unknown(handler.name, not_none=True))
    return run_block(machine, handler.body, frame)


CATCH_ALL = {"Exception", "BaseException"}
PARENTS = {
    "KeyError": {"LookupError"},
    "IndexError": {"LookupError"},
    "ZeroDivisionError": {"ArithmeticError"},
    "OverflowError": {"ArithmeticError"},
    "ModuleNotFoundError": {"ImportError"},
    "NotImplementedError": {"RuntimeError"},
    "RecursionError": {"RuntimeError"},
    "UnboundLocalError": {"NameError"},
    "UnicodeDecodeError": {"ValueError"},
    "UnicodeEncodeError": {"ValueError"},
    "FileNotFoundError": {"OSError"},
}


def _matching(
    machine: Machine, handlers: list[ast.ExceptHandler], error: Raised, frame: Frame
) -> ast.ExceptHandler | None:
    names = {error.name, *PARENTS.get(error.name, ())} | CATCH_ALL
    if isinstance(error.value, Instance) and isinstance(error.value.cls, ClassObject):
        from mfsdp_lint.readers.python.attributes import class_names

        names |= {name.rpartition(".")[2] for name in class_names(machine, error.value.cls)}
    for handler in handlers:
        if handler.type is None:
            return handler
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(ast.unparse(one).rpartition(".")[2] in names for one in caught):
            return handler
    return None


def _raise(machine: Machine, node: ast.Raise, frame: Frame) -> Signal:
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


def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> Signal:
    value = evaluate(machine, node.test, frame)
    known = known_truth(machine, value, frame, node.test)
    if known is False:
        raise Raised("AssertionError", "")
    if known is None:
        from mfsdp_lint.readers.python.branches import decide

        machine.doubts += 1
        decide(machine, value, True)
    return None


def _with(machine: Machine, node: Any, frame: Frame) -> Signal:
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
    if isinstance(manager, Instance) and isinstance(manager.cls, ClassObject):
        value = call(machine, get_attribute(machine, manager, "__enter__", frame), [], {}, node, frame)
        leave = get_attribute(machine, manager, "__exit__", frame)
    if first.optional_vars is not None:
        assign(machine, first.optional_vars, value, frame, node)
    if leave is None:
        return _enter(machine, node, rest, frame)
    try:
        signal = _enter(machine, node, rest, frame)
    except Raised as error:
        kind = error.value.cls if isinstance(error.value, Instance) else External(error.name)
        unknown = [machine.unknown("", not_none=True), machine.unknown("", not_none=True)]
        swallowed = truth(machine, call(machine, leave, [kind, *unknown], {}, node, frame))
        if swallowed is not False:
            # Where that is not known: a run that goes on swallowed it.
            return None
        raise
    call(machine, leave, [None, None, None], {}, node, frame)
    return signal


def _suppress(machine: Machine, node: Any, first: ast.withitem, rest: list[ast.withitem], frame: Frame) -> Signal:
    """`with contextlib.suppress(...)` is `try: ... except ...: pass`."""
    caught = ast.Tuple(first.context_expr.args, ast.Load()) if isinstance(first.context_expr, ast.Call) else None
    handler = ast.copy_location(ast.ExceptHandler(caught, None, []), first.context_expr)
    body = [ast.copy_location(ast.With(rest, node.body), node)] if rest else node.body
    return _guarded(machine, ast.copy_location(ast.Try(body, [handler], [], []), node), frame)


def _with_generator(
    machine: Machine, node: Any, first: ast.withitem, rest: list[ast.withitem], manager: GeneratorCall, frame: Frame
) -> Signal:
    """A `with` block over a @contextmanager function: the block runs where the function yields."""
    result: list[Signal] = [None]

    def body(value: Object) -> Object:
        if first.optional_vars is not None:
            assign(machine, first.optional_vars, value, frame, node)
        result[0] = _enter(machine, node, rest, frame)
        return None

    manager.run(body)
    return result[0]


# -- match ----------------------------------------------------------------------------------------------------------


def _match(machine: Machine, node: Any, frame: Frame) -> Signal:
    return _match_cases(machine, machine.settle(evaluate(machine, node.subject, frame)), node.cases, node, frame)


def _match_cases(machine: Machine, subject: Object, cases: list[Any], node: Any, frame: Frame) -> Signal:
    if not cases:
        return None
    case, rest = cases[0], cases[1:]
    found = matches(machine, subject, case.pattern, frame, node)
    if found is True and case.guard is not None:
        return branch(
            machine,
            case.guard,
            frame,
            lambda: run_block(machine, case.body, frame),
            lambda: _match_cases(machine, subject, rest, node, frame),
        )
    if found is True:
        return run_block(machine, case.body, frame)
    if found is False:
        return _match_cases(machine, subject, rest, node, frame)
    question = machine.unknown(f"{ast.unparse(node.subject)} matches {ast.unparse(case.pattern)}", not_none=True)
    if isinstance(case.pattern, ast.MatchValue) and isinstance(subject, Unknown):
        answer = evaluate(machine, case.pattern.value, frame)
        if isinstance(answer, (str, int, float, bool)):
            question.fields["<equal>"] = (subject, answer)
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


def matches(machine: Machine, subject: Object, pattern: Any, frame: Frame, node: Any) -> bool | None:
    """Whether a `case` pattern matches, binding its names; None when that is not known."""
    match pattern:
        case ast.MatchValue(value=value):
            return equal(machine, subject, evaluate(machine, value, frame))
        case ast.MatchSingleton(value=value):
            from mfsdp_lint.readers.python.comparisons import _same_object

            return _same_object(subject, value)
        case ast.MatchAs(pattern=inner, name=name):
            found = True if inner is None else matches(machine, subject, inner, frame, node)
            if name is not None and found is not False:
                assign_name(machine, name, subject, frame)
            return found
        case ast.MatchOr(patterns=patterns):
            answers = [matches(machine, subject, one, frame, node) for one in patterns]
            return True if True in answers else None if None in answers else False
        case ast.MatchSequence(patterns=patterns):
            return _match_sequence(machine, subject, patterns, frame, node)
        case ast.MatchClass(cls=cls, patterns=[], kwd_attrs=names, kwd_patterns=inner):
            return _match_class(machine, subject, cls, names, inner, frame, node)
    for bound in (one for one in ast.walk(pattern) if isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name):
        assign_name(machine, str(bound.name), machine.unknown(), frame)
    return None


def _match_sequence(machine: Machine, subject: Object, patterns: list[Any], frame: Frame, node: Any) -> bool | None:
    if isinstance(subject, (Unknown, Choice)) or any(isinstance(one, ast.MatchStar) for one in patterns):
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
    items = list(subject) if isinstance(subject, tuple) else subject.items
    if items is None:
        return None
    if len(items) != len(patterns):
        return False
    answers = [matches(machine, item, one, frame, node) for item, one in zip(items, patterns, strict=True)]
    return False if False in answers else None if None in answers else True


def _match_class(
    machine: Machine, subject: Object, cls: ast.expr, names: list[str], patterns: list[Any], frame: Frame, node: Any
) -> bool | None:
    from mfsdp_lint.readers.python.library import is_instance

    answer = is_instance(machine, subject, evaluate(machine, cls, frame))
    if answer is not True:
        return answer
    answers: list[bool | None] = []
    for name, pattern in zip(names, patterns, strict=True):
        try:
            answers.append(matches(machine, get_attribute(machine, subject, name, frame), pattern, frame, node))
        except Raised:
            return False
    return False if False in answers else None if None in answers else True


def _import(machine: Machine, node: Any, frame: Frame) -> Signal:
    bind_import(machine, node, frame)
    return None


RUNNERS: dict[type, Callable[[Machine, Any, Frame], Signal]] = {
    ast.Assign: _assign_statement,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.FunctionDef: _define_function,
    ast.AsyncFunctionDef: _define_function,
    ast.ClassDef: _define_class,
    ast.Global: _scope_statement,
    ast.Nonlocal: _scope_statement,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Match: _match,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Pass: lambda machine, node, frame: None,
    ast.Break: lambda machine, node, frame: BREAK,
    ast.Continue: lambda machine, node, frame: CONTINUE,
}
if hasattr(ast, "TryStar"):
    RUNNERS[ast.TryStar] = _try
