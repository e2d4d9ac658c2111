"""The values in a condition: settings, literals, and what is worked out from them.

    split(env.PYTORCH_CUDA_ALLOC_CONF, ",")     model.num_layers % model.pipeline_model_parallel_size
    len(model.offload_modules)                  lower(model.fp8)            number(env.CUDA_DEVICE_MAX_CONNECTIONS)
    without(model.offload_modules, ["core_attn", "moe_act"])        item(dataset.dataset_kwargs, "pad_to_max_length")

An expression is worked out for plain values; where its operands make no sense (arithmetic on None, a division by zero)
it is `UNDEFINED`, and so is the comparison it stands in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol, TypeGuard

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.conditions.byversion import ByVersion


class Undefined:
    """The result of an operation on values that it is not made for."""


UNDEFINED: Final = Undefined()

Result = Plain | Undefined


class Expression(Protocol):
    """A value that depends on settings."""

    def of(self, values: Mapping[str, Plain]) -> Result:
        """Evaluate it for these values of its settings."""

    def paths(self) -> Iterator[str]:
        """Yield the settings in it."""

    def landmarks(self) -> Iterator[Plain]:
        """Yield the literals in it."""

    def at(self, site: Site) -> Expression:
        """Return the expression at one site: named values have their meaning there."""


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting."""

    path: str

    def of(self, values: Mapping[str, Plain]) -> Result:
        return values[self.path]

    def paths(self) -> Iterator[str]:
        yield self.path

    def landmarks(self) -> Iterator[Plain]:
        return iter(())

    def at(self, site: Site) -> Expression:
        return self


@dataclass(frozen=True, slots=True)
class Literal:
    """A plain value, or a list of them."""

    value: Plain

    def of(self, values: Mapping[str, Plain]) -> Result:
        return self.value

    def paths(self) -> Iterator[str]:
        return iter(())

    def landmarks(self) -> Iterator[Plain]:
        yield self.value

    def at(self, site: Site) -> Expression:
        return self


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, or an arithmetic operation, of other values."""

    function: Callable[..., Result]
    operands: tuple[Expression, ...]

    def of(self, values: Mapping[str, Plain]) -> Result:
        found = [operand.of(values) for operand in self.operands]
        return UNDEFINED if any(value is UNDEFINED for value in found) else self.function(*found)

    def paths(self) -> Iterator[str]:
        return (path for operand in self.operands for path in operand.paths())

    def landmarks(self) -> Iterator[Plain]:
        return (value for operand in self.operands for value in operand.landmarks())

    def at(self, site: Site) -> Expression:
        return Apply(self.function, tuple(operand.at(site) for operand in self.operands))


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value with a name, which may differ from version to version (rules/terms.yaml, `value`)."""

    name: str
    meaning: ByVersion[Expression]

    def of(self, values: Mapping[str, Plain]) -> Result:
        raise ValueError(f"the term {self.name} has to be taken at a version before it is judged")

    def paths(self) -> Iterator[str]:
        raise ValueError(f"the term {self.name} has to be taken at a version before it is judged")

    def landmarks(self) -> Iterator[Plain]:
        raise ValueError(f"the term {self.name} has to be taken at a version before it is judged")

    def at(self, site: Site) -> Expression:
        meaning = self.meaning.at(site)
        return Apply(_undefined, ()) if meaning is None else meaning.at(site)


def _undefined() -> Result:
    return UNDEFINED


def as_list(value: Plain) -> list[Plain] | Undefined:
    """Convert a value to a list as upstream does.

    None is an empty list, as for upstream's `value or []`. A text is the list of the pieces between its commas, as
    core reads `cuda_graph_scope` and launchers read lists. A number or flag counts as a list of itself.
    """
    if value is None:
        return []
    if isinstance(value, dict):
        return UNDEFINED
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value if isinstance(value, list) else [value]


def _split(text: Plain, separator: Plain) -> Result:
    if text is None:
        return []
    if not isinstance(text, str) or not isinstance(separator, str) or not separator:
        return UNDEFINED
    return [part.strip() for part in text.split(separator)]


def _len(value: Plain) -> Result:
    if value is None:
        return 0
    return len(value) if isinstance(value, list) else UNDEFINED


def _lower(value: Plain) -> Result:
    return value.lower() if isinstance(value, str) else value


def _without(value: Plain, known: Plain) -> Result:
    found = as_list(value)
    if isinstance(found, Undefined) or not isinstance(known, list):
        return UNDEFINED
    return [element for element in found if element not in known]


def _number(value: Plain) -> Result:
    """Return a number as it is, and the number that a text (an environment variable) spells."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return UNDEFINED
    return value if _is_number(value) else UNDEFINED


def _is_number(value: Plain) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def arithmetic(operation: Callable[[float, float], float]) -> Callable[[Plain, Plain], Result]:
    """Wrap an operation on numbers; it is undefined for anything else (a flag is no number)."""

    def of(left: Plain, right: Plain) -> Result:
        if not (_is_number(left) and _is_number(right)):
            return UNDEFINED
        try:
            return operation(left, right)
        except (ZeroDivisionError, OverflowError):
            return UNDEFINED

    return of


def _item(value: Result, key: Result) -> Result:
    if value is None:
        return None
    return value.get(key) if isinstance(value, dict) and isinstance(key, str) else UNDEFINED


FUNCTIONS: Mapping[str, tuple[int, Callable[..., Result]]] = {
    "split": (2, _split),
    "item": (2, _item),
    "len": (1, _len),
    "lower": (1, _lower),
    "number": (1, _number),
    "without": (2, _without),
}
"""By name: how many operands, and what it does.

`split(text, ",")` is the pieces, stripped (None: none); `item(mapping, "key")` is the value of a key (None without
the key, and of None); `len` is the length of a list (None: 0); `lower` turns text into lower case and leaves the
rest; `number` reads an integer from a text; `without(value, ["a", "b"])` is the elements of a list that are none of
these (None: none).
"""

ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
}
"""By the name of Python's syntax node."""
