"""What a snapshot keeps of a function of upstream: what a call does, or what it may change at most."""

from __future__ import annotations

import ast
import functools
import json
from typing import Any

from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.objects import MISSING, Function, Object
from mfsdp_lint.snapshots.making.bounds import Bound
from mfsdp_lint.snapshots.making.encode import UNKNOWN, Encoder
from mfsdp_lint.snapshots.making.summarise import (
    Parameter,
    Subject,
    function_subject,
    outcome_with,
    promises,
    says_something,
    summarise,
)
from mfsdp_lint.snapshots.making.upstream import Upstream, is_summarised, quietly
from mfsdp_lint.snapshots.making.words import words


def function_entry(upstream: Upstream, encoder: Encoder, function: Function) -> Any:
    """A function of a module; None where nothing is known of it, or it builds models."""
    if not is_summarised(function.module.name):
        return None
    made = summary(upstream, encoder, function)
    if made is not None and "outcome" in made and not ("cases" in made or says_something(made["outcome"])):
        return bounded(upstream, function)
    return made


def summary(upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None = None) -> Any:
    """What a call does, where that can be worked out; else what it may change at most; None if nothing is known."""
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
    """What a function may change at most; None where that is not known."""
    bound = upstream.bounds.of(function) if _is_plain(function) else None
    if bound is None:
        return None
    made: dict[str, Any] = {"bound": bound.described()}
    if bound.result not in (None, UNKNOWN):
        made["parameters"] = _parameters(function)
    return made


def _worked_out(
    upstream: Upstream, encoder: Encoder, function: Function, owner: ClassObject | None, bound: Bound | None
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
        and not quietly(upstream.machine, lambda: promises(subject))
    ):
        return None
    found = quietly(upstream.machine, lambda: summarise(subject))
    return None if found is None else _described(upstream, encoder, function, subject, writes, *found)


def _described(
    upstream: Upstream,
    encoder: Encoder,
    function: Function,
    subject: Subject,
    writes: bool,
    outcome: Any,
    broken: list[str],
) -> Any:
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


def _cases(upstream: Upstream, subject: Subject, function: Function, outcome: Any, writes: bool) -> dict[str, Any]:
    """Outcomes for the values of single parameters that the code itself tells apart.

    Of a function that writes into its arguments (`writes`), those may be any objects.
    """
    required = [parameter.name for parameter in subject.parameters if parameter.required]
    found = {}
    for parameter in subject.parameters:
        if parameter.kind == "**" or (required and required != [parameter.name] and not writes):
            continue
        cases = []
        for value in _values(upstream.machine, function, parameter, writes):
            one = quietly(upstream.machine, functools.partial(outcome_with, subject, parameter.name, value))
            if one is not None and one != outcome:
                cases.append([value, one])
        if cases:
            found[parameter.name] = cases
    return found


def _values(machine: Machine, function: Function, parameter: Parameter, writes: bool) -> list[Object]:
    if isinstance(parameter.default, bool):
        return [not parameter.default]
    if parameter.required or isinstance(parameter.default, str) or (writes and parameter.default is None):
        return [word for word in words(machine, function, parameter.name) if word != parameter.default]
    return []


def _is_plain(function: Function) -> bool:
    """Whether calling a function runs its code, and nothing else."""
    node = function.node
    return function.unwrapped is None and not function.is_async and isinstance(node, ast.FunctionDef)


def _parameters(function: Function) -> list[Any]:
    """The parameters, and which of them must be given; what the others are by default is not told."""
    arguments = function.node.args
    named = [(each.arg, "p") for each in arguments.posonlyargs] + [(each.arg, "a") for each in arguments.args]
    named += [(arguments.vararg.arg, "*")] if arguments.vararg else []
    named += [(each.arg, "k") for each in arguments.kwonlyargs]
    named += [(arguments.kwarg.arg, "**")] if arguments.kwarg else []
    return [[name, kind, UNKNOWN if name in function.defaults else ["required"]] for name, kind in named]


def _configures(function: Function) -> bool:
    """Whether a function says that it returns a configuration."""
    returns = getattr(function.node, "returns", None)
    return returns is not None and "Config" in ast.unparse(returns)
