"""Calls that are not followed: of code that is not at hand, and of launchers, which train with what they are handed.

What is handed over is kept as it is at that moment. Upstream's launchers are never followed, whether their source is at
hand or not: all that a recipe has to say is said before. Code out of sight may be given something to start (a task made
of a launcher, a function that launches). What a thread, an executor or a cluster's task does with it is not known; that
it is there to be started is enough. It is run aside, and only its launches are kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import OF_WORKERS
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.configurations import changed_from_outside, is_container, is_launcher
from mfsdp_lint.readers.python.eval.containers import any_of, some_of
from mfsdp_lint.readers.python.eval.imports import meant
from mfsdp_lint.readers.python.state.calling import Coroutine, invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.effects import calls_nothing, changes_nothing, only_looks
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, Command, Launch, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call, calls_to, told_at
from mfsdp_lint.readers.python.values.markers import CONFIGURATION, EITHER, HANDED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Bound,
    Choice,
    ClassObject,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Partial,
    Place,
    Unknown,
    is_object,
    obstacle_of,
)


def launch(interp: Interpreter, name: str, call: Call) -> Object:
    """Launch the configurations that a launcher is handed; start-up's changes to them are not looked at."""
    interp.unfollowed += 1
    interp.doubts += 1
    values = call.values
    launched: list[Object] = list(_configurations(interp, values, f"the configuration of {name}()"))
    if not launched and interp.path.launches.handed:
        # It may come from where another one was handed to.
        launched += [value for value in map(interp.settle, values) if isinstance(value, Unknown)][:1]
    for container in launched:
        launch_one(interp, container, call)
    seen = set(map(id, launched))
    for value in values:
        forget_reachable(interp, value, seen)
    return interp.unknown(f"{name}()")


def launch_one(interp: Interpreter, container: Object, call: Call) -> None:
    """Launch a configuration as it is now."""
    interp.put(interp.path.launches, interp.tick(), _as_it_is(interp, container, call.node, call.frame))


def hand_over(interp: Interpreter, values: list[Object], node: Any, frame: Frame) -> bool:
    """Keep the configurations given to code out of sight, which is no launcher, as they are; tell if there are any.

    Those that other calls were given before are dropped.
    """
    launches = interp.path.launches
    handed = [
        _as_it_is(interp, value, node, frame)
        for value in map(interp.settle, values)
        if is_container(interp, value) or is_taken_for_one(interp, value)
    ]
    if handed:
        turns = [each for each in launches.handed if each.calls[:1] == handed[0].calls[:1]]
        interp.put(launches, HANDED, (*turns, *handed))
    return bool(handed)


def is_taken_for_one(interp: Interpreter, value: Object) -> bool:
    """Tell whether an unknown value results from a configuration given to code out of sight, or `config or other`."""
    if not isinstance(value, Unknown):
        return False
    return CONFIGURATION in value.fields or any(is_container(interp, one) for one in value.fields.get(EITHER, ()))


def _configurations(interp: Interpreter, values: list[Object], text: str) -> Iterator[Object]:
    """Yield the configurations among the values that a launcher is handed, or inside them (the state of a run)."""
    for value in map(interp.settle, values):
        if isinstance(value, Choice):
            options = [option for option in value.options if is_configuration(interp, option)]
            if options:
                yield one_of(interp, options, text)
        elif is_configuration(interp, value):
            yield value
        elif isinstance(value, (Instance, Unknown)):
            yield from (part for part in value.fields.values() if is_container(interp, part))


def is_configuration(interp: Interpreter, value: Object) -> bool:
    """Tell whether a value is a configuration, or an unknown value that is taken for one."""
    return is_container(interp, value) or is_taken_for_one(interp, value) or changed_from_outside(value)


def _as_it_is(interp: Interpreter, container: Object, node: Any, frame: Frame) -> Launch:
    path = interp.path
    copies: dict[int, Object] = {}
    root = deep_copy(interp, container, copies)
    environment = deep_copy(interp, path.environment, copies)
    assert isinstance(environment, DictObject)
    interp.charge(len(copies))
    here = [(frame.module, node, frame.function)] if isinstance(node, ast.AST) else []
    return Launch(
        container,
        root,
        environment,
        path.facts.copy(),
        path.when,
        (*here, *calls_to(frame)),
    )


def launch_what_is_started(interp: Interpreter, call: Call) -> None:
    """Find what a call out of sight launches by starting what it is given."""
    if interp.module_level:
        return
    values = call.values
    for value in values:
        if may_launch(interp, value) or interp.may_start(value):
            others = [other for other in call.arguments if other is not value]
            named = {name: other for name, other in call.keywords.items() if other is not value}
            for given in _arguments(interp, others, named):
                if _starts(interp, value, call.passing(*given)):
                    break


_WITH_OTHER_OPTIONS = frozenset(("options", "with_options"))
"""Methods that give back what they are asked of, to be called with other options: docs.ray.io, ray-core/api;
modal.com/docs/reference/modal.Cls."""


def call_elsewhere(interp: Interpreter, owner: Object, name: str, call: Call) -> Object:
    """Call what a decorator out of sight has made of a definition (`train.remote(…)`, `Trainer.remote(…)`): that calls
    it with these arguments in another process. Return MISSING for anything else.
    """
    instance = owner.owner if isinstance(owner, Bound) else None
    definition = owner if instance is None else getattr(instance, "cls", None)
    if not isinstance(definition, (Function, ClassObject)) or definition.given_by is None:
        return MISSING
    if name in _WITH_OTHER_OPTIONS:
        return owner
    if isinstance(definition, ClassObject) and instance is None:
        try:
            return invoke(interp, definition, call)
        except Raised:
            return MISSING
    function = owner.function if isinstance(owner, Bound) else owner
    if not interp.module_level and (may_launch(interp, function) or interp.may_start(function)):
        with _aside(interp):
            forget_reachable(interp, interp.path.environment)
            _set_variables_of_job(interp)
            with suppress(Raised, CannotJoin):
                invoke(interp, owner, call)
    return MISSING


def _set_variables_of_job(interp: Interpreter) -> None:
    """Set the variables that each process of a job has which the program is started as (Ray)."""
    environment, started = interp.path.environment, interp.started_environment()
    for name, value in started.fields.items():
        if isinstance(name, str) and name.startswith(OF_WORKERS):
            interp.put(environment, name.removeprefix(OF_WORKERS), value)
            interp.record(environment, name.removeprefix(OF_WORKERS), started.writes.get(name))


def may_launch(interp: Interpreter, value: Object) -> bool:
    """Tell whether calling a value may launch something, judged by the names in its text."""
    match value:
        case Partial(function=function) | Bound(function=function):
            return may_launch(interp, function)
        case Function():
            key = ("may launch", value)
            if key not in interp.memo:
                interp.memo[key] = is_launcher(value)  # while it is being asked: what calls itself adds nothing
                interp.memo[key] = is_launcher(value) or any(
                    may_launch(interp, named) for named in _named(interp, value)
                )
            found: bool = interp.memo[key]
            return found
        case _:
            return is_launcher(value)


def _named(interp: Interpreter, function: Function) -> Iterator[Object]:
    """Yield the values that a function's text names: those of its module and of the functions around it."""
    if not function.module.is_own:
        return
    for node in ast.walk(function.node):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            yield meant(interp, function.module, node, function)


def _arguments(
    interp: Interpreter, others: list[Object], named: dict[str, Object]
) -> Iterator[tuple[list[Object], dict[str, Object]]]:
    """Yield possible arguments of a start: `args` and `kwargs`, the rest of those given, none; perhaps after a rank."""
    packed = [value for value in (*others, *named.values()) if isinstance(value, (tuple, ListObject))]
    packed_names = [value for value in (*others, *named.values()) if isinstance(value, DictObject)]
    for each in packed:
        items = list(each.items or ()) if isinstance(each, ListObject) else list(each)
        keywords = {key: value for one in packed_names for key, value in one.fields.items() if isinstance(key, str)}
        yield items, keywords
        yield [interp.unknown("rank"), *items], keywords
    yield others, named
    yield [], {}
    yield [interp.unknown("rank")], {}


def _starts(interp: Interpreter, value: Object, call: Call) -> bool:
    """Tell whether a call gets as far as to launch something; only its launches, and the programs that it starts, are
    kept.
    """
    path = interp.path
    with _aside(interp, call) as launched:
        try:
            result = invoke(interp, value, call)
            if isinstance(result, Coroutine):
                result.result()
        except (Raised, CannotJoin):
            pass
        except OutOfSteps:
            if path.limit == path.budget:
                raise
    return bool(launched)


@contextmanager
def _aside(interp: Interpreter, call: Call | None = None) -> Iterator[list[Launch | Command]]:
    """Take back what is done meanwhile, but for what is launched and started; that is listed afterwards. `call` handed
    it on.
    """
    path = interp.path
    mark, before = len(path.journal), {*map(id, path.launches.fields.values())}
    variables = {name: interp.settle(value) for name, value in path.environment.fields.items()}
    launched: list[Launch | Command] = []
    path.trial += 1
    try:
        yield launched
    finally:
        path.trial -= 1
        launched += [
            each
            for each in path.launches.fields.values()
            if id(each) not in before
            and (isinstance(each, Command) or (isinstance(each, Launch) and is_configuration(interp, each.root)))
        ]
        interp.rollback(mark)
    for each in launched:
        if isinstance(each, Command) and call is not None:
            own = each.environment.fields
            changed = {name for name in variables | own if variables.get(name) != own.get(name)}
            each = replace(each, handed=(*each.handed, (call.frame.module, call.node, frozenset(changed))))
        interp.put(path.launches, interp.tick(), each)


def unfollowed(
    interp: Interpreter,
    name: str,
    call: Call,
    *,
    named: bool = True,
    blamed: bool = True,
    obstacle: Place | None = None,
) -> Object:
    """Treat a call whose code is not at hand: its result is unknown, and so is everything it may have changed.

    `named` says that `name` is the dotted name of the called value, and not only a text for it. `blamed` says that the
    call is the obstacle; it is not where the called value comes from an argument. `obstacle` is another one.
    """
    interp.unfollowed += 1
    interp.doubts += 1
    given = call.values
    interp.out_of_sight(name, call)
    picked = _picked(interp, given)
    launch_what_is_started(interp, call)
    if obstacle is None:
        obstacle = call_at(name if named else "", call.node, call.frame) if blamed else None
    elif is_upstream(obstacle[0]) or not isinstance(obstacle[1], ast.AST):
        obstacle = None
    result = interp.unknown(f"{name}()")
    result.obstacle = obstacle
    called = [value for value in given if isinstance(value, (Function, Bound, Partial))]
    if not (named and changes_nothing(name)):
        if hand_over(interp, given, call.node, call.frame):
            result.fields[CONFIGURATION] = True
        forget(interp, given, call.node, call.frame, obstacle)
    elif not (calls_nothing(name) or all(map(only_looks, called))):
        # They may be called with all that is given.
        forget(interp, given, call.node, call.frame, obstacle)
    elif not calls_nothing(name):
        for value in called:
            forget_reachable(interp, value)
    return any_of(interp, [*picked, result]) if picked else result


OF_UPSTREAM = frozenset(("megatron", "transformers", "huggingface_hub"))
"""Packages that a run brings along: upstream's code, and the numbers of models. Nobody writes these into a recipe."""


LEFT_OPEN = "not_described.left_open"
"""A function whose result stands, in the descriptions of upstream's programs, for what these do not write down."""


def call_at(name: str, node: Any, frame: Frame) -> Place | None:
    """Return a call that is not followed, as the obstacle to a value; None for a call of upstream or in its code."""
    if name.partition(".")[0] in OF_UPSTREAM:
        return None
    node, frame = told_at(node, frame)
    if not isinstance(node, ast.Call) or (is_upstream(frame.module) and name != LEFT_OPEN):
        return None
    return frame.module, node, frame.function


def why_unknown(iterable: Object, node: ast.expr, frame: Frame) -> Place | None:
    """Return the obstacle to the elements of an iterable: its own, or the expression for it, if it is no parameter."""
    found = obstacle_of(iterable)
    if found is None and isinstance(iterable, (ListObject, External)) and frame.module.is_project:
        known = isinstance(iterable, External) and iterable.name.partition(".")[0] in OF_UPSTREAM
        return None if known else (frame.module, node, frame.function)
    return found


def is_upstream(module: Module) -> bool:
    """Tell whether a module is upstream's, and nobody asked to have it checked."""
    return module.upstream is not None or (module.name.partition(".")[0] in OF_UPSTREAM and not module.asked_for)


def forget(interp: Interpreter, values: list[Object], node: Any, frame: Frame, obstacle: Place | None = None) -> None:
    """Forget what all these hold, and remember what call it was that may have changed it."""
    if interp.tracing:
        interp.suspect = interp.note(node, frame, None, "unfollowed", None, None)
    seen: set[int] = set()
    with interp.blaming(obstacle):
        for value in values:
            forget_reachable(interp, value, seen)
    interp.suspect = None


def _picked(interp: Interpreter, values: list[Object]) -> list[Object]:
    """List the objects that a function may pick from the lists that it is given: one of them, or some."""
    found: list[Object] = []
    for value in values:
        items = tuple(value.fields.values()) if isinstance(value, DictObject) else value
        items = value.items or () if isinstance(value, ListObject) else items
        if not isinstance(items, (tuple, list)):
            continue
        interp.charge(len(items))
        # Where all are unknown, they may be objects that nothing was written to so far.
        if any(map(is_object, items)) or (items and all(isinstance(item, Unknown) for item in items)):
            found += (*items, some_of(interp, items))
    return found
