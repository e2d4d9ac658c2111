"""Text, numbers and truth: `str`, `int`, `math`, …"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.formatting import as_text
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.library.computing import computes
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.truth import negated
from mfsdp_lint.readers.python.values.frames import Frame
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
def _pow(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return binary(machine, ast.Pow, *arguments) if len(arguments) == 2 else machine.unknown("", not_none=True)


@models("builtins.bytes")
def _bytes(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if any(isinstance(argument, int) for argument in arguments):
        return machine.unknown("", not_none=True)
    found: Object = computes(bytes)(machine, arguments, keywords, node, frame)
    return found


@models("builtins.format")
def _format(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if any(isinstance(argument, str) and is_wide(argument) for argument in arguments[1:]):
        return machine.unknown("", not_none=True)
    found: Object = computes(format)(machine, arguments, keywords, node, frame)
    return found


@models("math.prod")
def _prod(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    items = iterate(machine, arguments[0], frame) if arguments else []
    if items is None:
        return machine.unknown("", not_none=True)
    total: Object = keywords.get("start", 1)
    for item in items:
        total = binary(machine, ast.Mult, total, item)
    return total


@models("builtins.str")
def _str(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if not arguments:
        return ""
    text = as_text(machine, arguments[0])
    return machine.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    value = machine.settle(arguments[0]) if arguments else None
    known = is_constant(value) and is_small(value) and not is_symbolic(value)
    return repr(value) if known else machine.unknown("", not_none=True)


@models("builtins.bool")
def _bool(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if not arguments:
        return False
    known = known_truth(machine, arguments[0], node, frame)
    if known is None:
        return negated(machine, negated(machine, arguments[0]))
    return known
