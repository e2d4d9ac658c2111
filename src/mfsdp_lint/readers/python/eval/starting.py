"""Code out of sight that is given something to start: a launcher, a task made of one, a function that launches.

What a thread, an executor or a cluster's task does with it is not known; that it is there to be started is enough. It
is run aside, and only what it launches is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mfsdp_lint.readers.python.eval.launching import is_configuration, is_launcher
from mfsdp_lint.readers.python.eval.meaning import meant
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.generators import Coroutine
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.calls import Call
from mfsdp_lint.readers.python.values.objects import (
    Bound,
    DictObject,
    Function,
    ListObject,
    Object,
    Partial,
)


def launch_what_is_started(machine: Machine, call: Call) -> None:
    """Find what a call out of sight launches by starting what it is given."""
    if machine.module_level:
        return
    values = [*call.arguments, *call.keywords.values()]
    for value in values:
        if may_launch(machine, value):
            others = [other for other in call.arguments if other is not value]
            named = {name: other for name, other in call.keywords.items() if other is not value}
            for given in _arguments(machine, others, named):
                if _starts(machine, value, call.passing(*given)):
                    break


def may_launch(machine: Machine, value: Object) -> bool:
    """Tell whether calling a value may launch something, judged by the names in its text."""
    match value:
        case Partial(function=function) | Bound(function=function):
            return may_launch(machine, function)
        case Function():
            key = ("may launch", value)
            if key not in machine.memo:
                machine.memo[key] = is_launcher(value)  # while it is being asked: what calls itself adds nothing
                machine.memo[key] = is_launcher(value) or any(
                    may_launch(machine, named) for named in _named(machine, value)
                )
            found: bool = machine.memo[key]
            return found
        case _:
            return is_launcher(value)


def _named(machine: Machine, function: Function) -> Iterator[Object]:
    """Yield the values that a function's text names: those of its module and of the functions around it."""
    if not function.module.is_own:
        return
    for node in ast.walk(function.node):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            yield meant(machine, function.module, node, function)


def _arguments(
    machine: Machine, others: list[Object], named: dict[str, Object]
) -> Iterator[tuple[list[Object], dict[str, Object]]]:
    """Yield possible arguments of a start: `args` and `kwargs`, the rest of those given, none; perhaps after a rank."""
    packed = [value for value in (*others, *named.values()) if isinstance(value, (tuple, ListObject))]
    packed_names = [value for value in (*others, *named.values()) if isinstance(value, DictObject)]
    for each in packed:
        items = list(each.items or ()) if isinstance(each, ListObject) else list(each)
        keywords = {key: value for one in packed_names for key, value in one.fields.items() if isinstance(key, str)}
        yield items, keywords
        yield [machine.unknown("rank"), *items], keywords
    yield others, named
    yield [], {}
    yield [machine.unknown("rank")], {}


def _starts(machine: Machine, value: Object, call: Call) -> bool:
    """Tell whether a call gets as far as to launch something; only its launches are kept."""
    path = machine.path
    mark, before = len(path.journal), path.launches.all
    path.trial += 1
    try:
        result = invoke(machine, value, call)
        if isinstance(result, Coroutine):
            result.result()
    except (Raised, CannotJoin):
        pass
    except OutOfSteps:
        if path.limit == path.budget:
            raise
    finally:
        path.trial -= 1
        launched = [each for each in path.launches.all if each not in before and is_configuration(machine, each.root)]
        machine.rollback(mark)
    for each in launched:
        machine.put(path.launches, machine.tick(), each)
    return bool(launched)
