"""Text, numbers and truth: `str`, `int`, `math`, …"""

from __future__ import annotations

import math
from typing import Any

from mfsdp_lint.readers.python.branches import known_truth
from mfsdp_lint.readers.python.library.registry import BUILTINS, computes, models
from mfsdp_lint.readers.python.machine import Frame, Machine
from mfsdp_lint.readers.python.objects import (
    CONSTANTS,
    External,
    ListObject,
    Native,
    Object,
    SetObject,
    is_constant,
)


def as_text(machine: Machine, value: Object) -> str | None:
    """`str(value)`, None where it is not known."""
    value = machine.settle(value)
    if isinstance(value, CONSTANTS):
        return str(value)
    if isinstance(value, External) and value.name.startswith("torch."):
        return value.name
    if isinstance(value, tuple) and is_constant(value):
        return str(value)
    if (
        isinstance(value, ListObject)
        and value.items is not None
        and is_constant(tuple(value.items))
        and not isinstance(value, SetObject)
    ):
        return str(list(value.items))
    return None


for _name, _function in {
    "int": int, "float": float, "abs": abs, "round": round, "chr": chr, "ord": ord, "hex": hex, "oct": oct, "bin": bin,
    "bytes": bytes, "divmod": divmod, "complex": complex, "ascii": ascii, "pow": pow,
}.items():  # fmt: skip
    models(f"builtins.{_name}")(computes(_function))
for _name in ("ceil", "floor", "sqrt", "log", "log2", "log10", "prod", "gcd", "isqrt", "trunc", "exp", "isclose"):
    models(f"math.{_name}")(computes(getattr(math, _name)))


@models("builtins.str")
def _str(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if not arguments:
        return ""
    text = as_text(machine, arguments[0])
    return machine.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    value = machine.settle(arguments[0]) if arguments else None
    return repr(value) if is_constant(value) else machine.unknown("", not_none=True)


@models("builtins.bool")
def _bool(machine: Machine, arguments: list[Object], keywords: dict[str, Object], frame: Frame, node: Any) -> Object:
    if not arguments:
        return False
    known = known_truth(machine, arguments[0], frame, node)
    if known is None:
        from mfsdp_lint.readers.python.expressions import _negated

        return _negated(machine, _negated(machine, arguments[0]))
    return known


BUILTINS["format"] = Native("builtins.format", computes(format))
