"""Functions of upstream in a snapshot: the effect of a call, or a bound of its changes.

Texts that a function distinguishes in a parameter.

The function, or another that it passes the parameter on to, compares the parameter with these texts or looks it up
among them.
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, DictObject, Function, Object
from mfsdp_lint.snapshots.making.bounds import ChangeBound, ChangeBounds
from mfsdp_lint.snapshots.making.encode import UNKNOWN, Encoder
from mfsdp_lint.snapshots.making.meaning import texts_in
from mfsdp_lint.snapshots.making.summarise import (
    CallSubject,
    Parameter,
    function_subject,
    outcome_with,
    promises,
    says_something,
    summarise,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upstream:
    """The evaluator, the modules of the release, and the bounds of their functions."""

    interp: Interpreter
    modules: Mapping[str, Module]
    bounds: ChangeBounds


def quietly(interp: Interpreter, work: Callable[[], T]) -> T | None:
    """Return the result of some work at the evaluator; None if it cannot be computed."""
    try:
        return work()
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        return None
    finally:
        interp.finish()


def is_summarised(module: str) -> bool:
    """Tell whether the functions of a module are worth a summary: Megatron-Core's build models, not configurations."""
    return module.startswith("megatron.bridge")


DEPTH = 4
MOST = 64


def words(interp: Interpreter, function: Function, parameter: str) -> list[str]:
    """List the texts, in the order in which the code has them."""
    return list(dict.fromkeys(_words(interp, function, parameter, DEPTH)))[:MOST]


def _words(interp: Interpreter, function: Function, parameter: str, depth: int) -> Iterator[str]:
    if not isinstance(function.node, ast.FunctionDef) or depth == 0:
        return
    for node in ast.walk(function.node):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_root(side) == parameter for side in sides):
                yield from (text for side in sides for text in texts_in(side))
        elif isinstance(node, ast.Match) and _root(node.subject) == parameter:
            yield from (text for case in node.cases for text in texts_in(case.pattern))
        elif isinstance(node, ast.Subscript) and _root(node.slice) == parameter:
            yield from _keys(_global(interp, function, node.value))
        elif isinstance(node, ast.Call):
            yield from _of_call(interp, function, node, parameter, depth)


def _of_call(interp: Interpreter, function: Function, node: ast.Call, parameter: str, depth: int) -> Iterator[str]:
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and node.args
        and _root(node.args[0]) == parameter
    ):
        yield from _keys(_global(interp, function, node.func.value))
        return
    passed: list[int | str | None] = [i for i, argument in enumerate(node.args) if _root(argument) == parameter]
    passed += [keyword.arg for keyword in node.keywords if _root(keyword.value) == parameter]
    if not passed:
        return
    called = _global(interp, function, node.func)
    if not isinstance(called, Function) or not isinstance(called.node, ast.FunctionDef):
        return
    names = [argument.arg for argument in (*called.node.args.posonlyargs, *called.node.args.args)]
    for place in passed:
        name = place if not isinstance(place, int) else names[place] if place < len(names) else None
        if name is not None:
            yield from _words(interp, called, name, depth - 1)


def _root(node: ast.expr) -> str | None:
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return node.id


def _global(interp: Interpreter, function: Function, node: ast.expr) -> Object:
    try:
        return resolve_global(interp, function.module, node.id) if isinstance(node, ast.Name) else MISSING
    except Raised:
        return MISSING


def _keys(table: Object) -> list[str]:
    return [key for key in table.fields if isinstance(key, str)] if isinstance(table, DictObject) else []


def function_entry(upstream: Upstream, encoder: Encoder, function: Function) -> Any:
    """Describe a function of a module; None if nothing is known of it, or it builds models."""
    if not is_summarised(function.module.name):
        return None
    made = summary(upstream, encoder, function)
    if made is not None and "outcome" in made and not ("cases" in made or says_something(made["outcome"])):
        return bounded(upstream, function)
    return made


def summary(upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None = None) -> Any:
    """Summarise the effect of a call if it can be computed, else the bound of its changes; None if nothing is known."""
    if not _is_plain(function):
        return None
    bound = upstream.bounds.of(function)
    made = _worked_out(upstream, encoder, function, owner, bound)
    if made is None:
        return bounded(upstream, function)
    # What is added to a list that an argument holds, evaluating a function without its arguments does not see.
    if bound is not None and (bound.contents or "forgets" in json.dumps(made) or "broken" in made):
        made["bound"] = bound.described()
    return made


def bounded(upstream: Upstream, function: Function) -> Any:
    """Describe the bound of a function's changes; None if it is not known."""
    bound = upstream.bounds.of(function) if _is_plain(function) else None
    if bound is None:
        return None
    made: dict[str, Any] = {"bound": bound.described()}
    if bound.result not in (None, UNKNOWN):
        made["parameters"] = _parameters(function)
    return made


def _worked_out(
    upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None, bound: ChangeBound | None
) -> Any:
    if owner is not None and upstream.bounds.classes.decide(function, owner):
        return None
    subject = function_subject(encoder, function, owner)
    # Most functions of a release work on tensors. A method that only looks is worth knowing all the same.
    writes = bound is not None and bool(bound.names)
    if (
        owner is None
        and not _configures(function)
        and not writes
        and not quietly(upstream.interp, lambda: promises(subject))
    ):
        return None
    found = quietly(upstream.interp, lambda: summarise(subject))
    if found is None:
        return None
    outcome, broken = found
    arguments = function.node.args
    parameters: list[Any] = [
        [p.name, p.kind, ["required"] if p.default is MISSING else encoder.encode(p.default)]
        for p in subject.parameters
        if p.kind != "**"
    ]
    if arguments.vararg is not None:
        parameters.append([arguments.vararg.arg, "*", ["required"]])
    if arguments.kwarg is not None:
        parameters.append([arguments.kwarg.arg, "**", ["required"]])
    made: dict[str, Any] = {"parameters": parameters, "outcome": outcome}
    if broken:
        made["broken"] = broken
    told = writes or says_something(outcome) or _configures(function)
    cases = _cases(upstream, subject, function, outcome, writes) if told else {}
    if cases:
        made["cases"] = cases
    keys = [p.name for p in subject.parameters if p.kind == "**"]
    return made | {"keys": keys} if keys else made


def _cases(upstream: Upstream, subject: CallSubject, function: Function, outcome: Any, writes: bool) -> dict[str, Any]:
    """Compute outcomes for the values of single parameters that the code itself distinguishes.

    For a function that writes into its arguments (`writes`), the arguments may be any objects.
    """
    required = [parameter.name for parameter in subject.parameters if parameter.required]
    found = {}
    for parameter in subject.parameters:
        if parameter.kind == "**" or (required and required != [parameter.name] and not writes):
            continue
        cases = []
        for value in _values(upstream.interp, function, parameter, writes):
            one = quietly(upstream.interp, functools.partial(outcome_with, subject, parameter.name, value))
            if one is not None and one != outcome:
                cases.append([value, one])
        if cases:
            found[parameter.name] = cases
    return found


def _values(interp: Interpreter, function: Function, parameter: Parameter, writes: bool) -> list[Object]:
    if isinstance(parameter.default, bool):
        return [not parameter.default]
    if parameter.required or isinstance(parameter.default, str) or (writes and parameter.default is None):
        return [word for word in words(interp, function, parameter.name) if word != parameter.default]
    return []


def _is_plain(function: Function) -> bool:
    """Tell whether calling a function runs its code, and nothing else."""
    node = function.node
    return function.unwrapped is None and not function.is_async and isinstance(node, ast.FunctionDef)


def _parameters(function: Function) -> list[Any]:
    """List the parameters, and which of them are required; the defaults of the others are left out."""
    arguments = function.node.args
    named = [(each.arg, "p") for each in arguments.posonlyargs] + [(each.arg, "a") for each in arguments.args]
    named += [(arguments.vararg.arg, "*")] if arguments.vararg else []
    named += [(each.arg, "k") for each in arguments.kwonlyargs]
    named += [(arguments.kwarg.arg, "**")] if arguments.kwarg else []
    return [[name, kind, UNKNOWN if name in function.defaults else ["required"]] for name, kind in named]


def _configures(function: Function) -> bool:
    """Tell whether a function's annotation says that it returns a configuration."""
    returns = getattr(function.node, "returns", None)
    return returns is not None and "Config" in ast.unparse(returns)
