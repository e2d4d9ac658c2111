"""Texts, numbers and truth: functions that compute on constants."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.expressions import as_text
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.eval.standard_objects import MOST_DIGITS, NotKnown, answer
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.truth import join, negated
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.limits import is_small, is_wide
from mfsdp_lint.readers.python.values.objects import (
    Choice,
    Object,
    is_constant,
    is_symbolic,
)


def settled(interp: Interpreter, arguments: list[Object]) -> list[Object]:
    """Settle the arguments as far as they were decided on this path."""
    return [interp.settle(argument) for argument in arguments]


def computes(function: Callable[..., Any]) -> Model:
    """Return the model of a function that Python answers for; unknown where an argument is not known."""

    def model(interp: Interpreter, call: Call) -> Object:
        arguments = settled(interp, call.arguments)
        if len(arguments) == 1 and isinstance(arguments[0], Choice):
            return join(interp, [model(interp, call.passing([one], call.keywords)) for one in arguments[0].options])
        try:
            return answer(interp, function, arguments, call.keywords)
        except NotKnown:
            return interp.unknown("", not_none=True)

    return model


def _round(number: Any, ndigits: Any = None) -> Any:
    if isinstance(ndigits, int) and abs(ndigits) > MOST_DIGITS:
        raise NotKnown
    return round(number, ndigits)


models("builtins.round")(computes(_round))
for _function in (abs, ascii, bin, chr, complex, divmod, float, hex, int, oct, ord):
    models(f"builtins.{_function.__name__}")(computes(_function))


_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")
"""CPython 3.11, distutils/util.py."""


def _strtobool(text: str) -> int:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueError(f"invalid truth value {text!r}")
    return int(text.lower() in _TRUE)


models("distutils.util.strtobool", "setuptools._distutils.util.strtobool")(computes(_strtobool))


models("builtins.pow")(
    lambda interp, call: (
        binary(interp, ast.Pow, *call.arguments) if len(call.arguments) == 2 else interp.unknown("", not_none=True)
    )
)


@models("builtins.bytes")
def _bytes(interp: Interpreter, call: Call) -> Object:
    if any(isinstance(argument, int) for argument in call.arguments):
        return interp.unknown("", not_none=True)
    return computes(bytes)(interp, call)


@models("builtins.format")
def _format(interp: Interpreter, call: Call) -> Object:
    if any(isinstance(argument, str) and is_wide(argument) for argument in call.arguments[1:]):
        return interp.unknown("", not_none=True)
    return computes(format)(interp, call)


@models("builtins.str")
def _str(interp: Interpreter, call: Call) -> Object:
    if not call.arguments:
        return ""
    text = as_text(interp, call.arguments[0])
    return interp.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.argument(0))
    known = is_constant(value) and is_small(value) and not is_symbolic(value)
    return repr(value) if known else interp.unknown("", not_none=True)


@models("builtins.bool")
def _bool(interp: Interpreter, call: Call) -> Object:
    if not call.arguments:
        return False
    known = known_truth(interp, call.arguments[0], call.node, call.frame)
    if known is None:
        return negated(interp, negated(interp, call.arguments[0]))
    return known
