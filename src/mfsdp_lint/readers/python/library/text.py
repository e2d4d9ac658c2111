"""Text, numbers and truth: `str`, `int`, `math`, …"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.expressions import as_text
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.library.computing import computes
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.truth import negated
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.limits import is_small, is_wide
from mfsdp_lint.readers.python.values.objects import (
    Object,
    is_constant,
    is_symbolic,
)

_NUMBERS: dict[str, Callable[..., Any]] = {
    "int": int, "float": float, "abs": abs, "round": round, "chr": chr, "ord": ord, "hex": hex, "oct": oct, "bin": bin,
    "divmod": divmod, "complex": complex, "ascii": ascii,
}  # fmt: skip
for _name, _function in _NUMBERS.items():
    models(f"builtins.{_name}")(computes(_function))


_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")
"""CPython 3.11, distutils/util.py."""


def _strtobool(text: str) -> int:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueError(f"invalid truth value {text!r}")
    return int(text.lower() in _TRUE)


models("distutils.util.strtobool", "setuptools._distutils.util.strtobool")(computes(_strtobool))


@models("builtins.pow")
def _pow(machine: Machine, call: Call) -> Object:
    return binary(machine, ast.Pow, *call.arguments) if len(call.arguments) == 2 else machine.unknown("", not_none=True)


@models("builtins.bytes")
def _bytes(machine: Machine, call: Call) -> Object:
    if any(isinstance(argument, int) for argument in call.arguments):
        return machine.unknown("", not_none=True)
    found: Object = computes(bytes)(machine, call)
    return found


@models("builtins.format")
def _format(machine: Machine, call: Call) -> Object:
    if any(isinstance(argument, str) and is_wide(argument) for argument in call.arguments[1:]):
        return machine.unknown("", not_none=True)
    found: Object = computes(format)(machine, call)
    return found


@models("math.prod")
def _prod(machine: Machine, call: Call) -> Object:
    items = iterate(machine, call.arguments[0], call.frame) if call.arguments else []
    if items is None:
        return machine.unknown("", not_none=True)
    total: Object = call.keywords.get("start", 1)
    for item in items:
        total = binary(machine, ast.Mult, total, item)
    return total


@models("builtins.str")
def _str(machine: Machine, call: Call) -> Object:
    if not call.arguments:
        return ""
    text = as_text(machine, call.arguments[0])
    return machine.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0]) if call.arguments else None
    known = is_constant(value) and is_small(value) and not is_symbolic(value)
    return repr(value) if known else machine.unknown("", not_none=True)


@models("builtins.bool")
def _bool(machine: Machine, call: Call) -> Object:
    if not call.arguments:
        return False
    known = known_truth(machine, call.arguments[0], call.node, call.frame)
    if known is None:
        return negated(machine, negated(machine, call.arguments[0]))
    return known
