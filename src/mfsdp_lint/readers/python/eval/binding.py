"""Binding the arguments of a call to a function's parameters, as Python does."""

from __future__ import annotations

import ast
from typing import Any

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.readers.python.eval.iteration import uncertain
from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import evaluate
from mfsdp_lint.readers.python.state.outcomes import Refused
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, DictObject, Function, Object


def unexpected(called: str, keyword: str, names: list[str]) -> Refused:
    """Return the error that Python raises where a callable with parameters of these `names` gets another keyword."""
    meant = next(iter(nearest(keyword, names)), "")
    return Refused(f"{called}() got an unexpected keyword argument '{keyword}'", keyword, meant)


def evaluate_defaults(machine: Machine, function: Function, parameters: ast.arguments, frame: Frame) -> None:
    """Evaluate the default values of a function's parameters where the function is defined."""
    named = [*parameters.posonlyargs, *parameters.args]
    for parameter, default in zip(named[len(named) - len(parameters.defaults) :], parameters.defaults, strict=True):
        function.defaults[parameter.arg] = evaluate(machine, default, frame)
    for parameter, keyword_default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if keyword_default is not None:
            function.defaults[parameter.arg] = evaluate(machine, keyword_default, frame)


def bind(
    machine: Machine, function: Function, arguments: list[Object], keywords: dict[str, Object], frame: Frame
) -> None:
    """Bind call arguments to parameters as Python does; raises Raised("TypeError") where they do not fit."""
    signature = function.signature
    fields = frame.fields
    positional = signature.positional
    fields.update(zip(positional, arguments, strict=False))
    if signature.rest is not None:
        fields[signature.rest] = tuple(arguments[len(positional) :])
    elif len(arguments) > len(positional):
        raise Refused(
            f"{function.name}() takes {len(positional)} positional arguments but {len(arguments)} were given",
        )
    rest: dict[Any, Object] = {}
    open_ended = False
    for name, value in keywords.items():
        if name == "**":
            open_ended = True
        elif name in signature.named:
            if name in fields and uncertain(value):
                continue
            if name in fields:
                raise Refused(f"{function.name}() got multiple values for argument '{name}'")
            fields[name] = value
        else:
            rest[name] = value
    _bind_rest(machine, function, function.node.args, rest, open_ended, frame)
    for name in signature.parameters:
        found = fields.get(name, MISSING)
        if found is not MISSING and not isinstance(found, Choice):
            continue
        if isinstance(found, Choice) and MISSING not in found.options:
            continue
        default = function.defaults.get(name, MISSING)
        if isinstance(found, Choice):
            options = [option for option in found.options if option is not MISSING]
            fields[name] = join(machine, options if default is MISSING else [*options, default])
        elif open_ended:
            fields[name] = machine.unknown(name)
        elif default is MISSING:
            raise Refused(f"{function.name}() missing required argument: '{name}'", lacking=(name,))
        else:
            fields[name] = default


def _bind_rest(
    machine: Machine,
    function: Function,
    parameters: ast.arguments,
    rest: dict[Any, Object],
    open_ended: bool,
    frame: Frame,
) -> None:
    if parameters.kwarg is not None:
        holder = DictObject(rest, machine.tick())
        if open_ended:
            holder.writes[HAZY] = True
        frame.fields[parameters.kwarg.arg] = holder
    elif refused := [name for name, value in rest.items() if not uncertain(value)]:
        names = [each.arg for each in (*parameters.args, *parameters.kwonlyargs)]
        raise unexpected(function.name, str(refused[0]), names)
    else:
        machine.doubts += len(rest)
