"""The pieces of a condition, in three-valued logic; language.py reads them from a text.

Each is true, false, or unknown (None). It is decided only if every value that the unknown settings could still have
gives the same answer (Kleene), so a rule never speaks of what nobody knows.

The values in a condition: settings, literals, and what is worked out from them.

    split(env.PYTORCH_CUDA_ALLOC_CONF, ",")     model.num_layers % model.pipeline_model_parallel_size
    len(model.offload_modules)                  lower(model.fp8)            number(env.CUDA_DEVICE_MAX_CONNECTIONS)
    without(model.offload_modules, ["core_attn", "moe_act"])        item(dataset.dataset_kwargs, "pad_to_max_length")

An expression is worked out for plain values; where its operands make no sense (arithmetic on None, a division by zero)
it is `UNDEFINED`, and so is the comparison it stands in.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from operator import methodcaller
from typing import Final, Protocol, TypeGuard

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, possible
from mfsdp_lint.megatron.conditions import ByVersion, Site, Truth, agreed, junction


class Undefined:
    """The result of an operation on values that it is not made for."""


UNDEFINED: Final = Undefined()

Result = Plain | Undefined


class Expression:
    """A value that depends on settings."""

    __slots__ = ()

    def of(self, values: Mapping[str, Plain]) -> Result:
        """Evaluate it for these values of its settings."""
        raise NotImplementedError

    def paths(self) -> Iterator[str]:
        """Yield the settings in it."""
        return iter(())

    def landmarks(self) -> Iterator[Plain]:
        """Yield the literals in it."""
        return iter(())

    def at(self, site: Site) -> Expression:
        """Return the expression at one site: named values have their meaning there."""
        return self


@dataclass(frozen=True, slots=True)
class SettingValue(Expression):
    """A setting."""

    path: str

    def of(self, values: Mapping[str, Plain]) -> Result:
        return values[self.path]

    def paths(self) -> Iterator[str]:
        yield self.path


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A plain value, or a list of them."""

    value: Plain

    def of(self, values: Mapping[str, Plain]) -> Result:
        return self.value

    def landmarks(self) -> Iterator[Plain]:
        yield self.value


@dataclass(frozen=True, slots=True)
class Apply(Expression):
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
class NamedValue(Expression):
    """A value with a name, which may differ from version to version (rules/terms.yaml, `value`)."""

    name: str
    meaning: ByVersion[Expression]

    def of(self, values: Mapping[str, Plain]) -> Result:
        raise _not_at_a_version(self.name)

    def paths(self) -> Iterator[str]:
        raise _not_at_a_version(self.name)

    def landmarks(self) -> Iterator[Plain]:
        raise _not_at_a_version(self.name)

    def at(self, site: Site) -> Expression:
        meaning = self.meaning.at(site)
        return Apply(lambda: UNDEFINED, ()) if meaning is None else meaning.at(site)


def _not_at_a_version(term: str) -> ValueError:
    return ValueError(f"the term {term} has to be taken at a version before it is judged")


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
    return value if is_number(value) else UNDEFINED


def is_number(value: Plain) -> TypeGuard[int | float]:
    """Tell whether a value is a number; a flag is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def arithmetic(operation: Callable[[float, float], float]) -> Callable[[Plain, Plain], Result]:
    """Wrap an operation on numbers; it is undefined for anything else (a flag is no number)."""

    def of(left: Plain, right: Plain) -> Result:
        if not (is_number(left) and is_number(right)):
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
    "lower": (1, lambda value: value.lower() if isinstance(value, str) else value),
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


_MOST_COMBINATIONS = 1000
"""Of values that a comparison of several settings tries; with more it is undecided."""


class Rooted(Protocol):
    """An object that means a piece of a condition."""

    @property
    def root(self) -> Node:
        """The piece."""


class Node:
    """A piece of a condition."""

    __slots__ = ()

    def truth(self, variant: Variant) -> Truth:
        """Return true, false, or None where it is not decided."""
        raise NotImplementedError

    def deciding(self, variant: Variant) -> Iterator[str]:
        """Yield the settings that decided its truth; to be asked only where it is decided."""
        return iter(())

    def at(self, site: Site) -> Node:
        """Return the node at one site: its terms have their meaning there."""
        return self

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        """Yield the settings in it, each with the literals that it is compared with."""
        return iter(())


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """True or false, whatever the settings are; None: a term that means nothing where it is judged."""

    value: Truth

    def truth(self, variant: Variant) -> Truth:
        return self.value


@dataclass(frozen=True, slots=True)
class Test(Node):
    """A question to one setting. `when_set` is the answer for a value of which only `not None` is known.

    `literals` are the values that it asks about.
    """

    path: str
    ask: Callable[[Plain], Truth]
    when_set: Truth = None
    literals: tuple[Plain, ...] = ()

    def truth(self, variant: Variant) -> Truth:
        value = variant.settings.value(self.path)
        if type(value) is Known:  # nearly all are
            return self.ask(value.value)
        if isinstance(value, OneOf):
            return agreed(self.ask(option) for option in value.values)
        return self.when_set if isinstance(value, NotNone) else None

    def deciding(self, variant: Variant) -> Iterator[str]:
        yield self.path

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        yield self.path, self.literals


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """A question to one or two expressions, which may be about several settings."""

    operands: tuple[Expression, ...]
    ask: Callable[..., Truth]
    literals: tuple[Plain, ...] = ()

    def truth(self, variant: Variant) -> Truth:
        paths = tuple(dict.fromkeys(path for operand in self.operands for path in operand.paths()))
        options = [possible(variant.value(path)) for path in paths]
        known = [values for values in options if values is not None]
        if len(known) < len(options) or math.prod(map(len, known)) > _MOST_COMBINATIONS:
            return None
        every = (dict(zip(paths, values, strict=True)) for values in product(*known))
        return agreed(self.ask(*(operand.of(values) for operand in self.operands)) for values in every)

    def deciding(self, variant: Variant) -> Iterator[str]:
        return (path for operand in self.operands for path in operand.paths())

    def at(self, site: Site) -> Node:
        return Comparison(tuple(operand.at(site) for operand in self.operands), self.ask, self.literals)

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        literals = (*self.literals, *(value for operand in self.operands for value in operand.landmarks()))
        return ((path, literals) for operand in self.operands for path in operand.paths())


@dataclass(frozen=True, slots=True)
class Not(Node):
    """The opposite."""

    operand: Node

    def truth(self, variant: Variant) -> Truth:
        truth = self.operand.truth(variant)
        return None if truth is None else not truth

    def deciding(self, variant: Variant) -> Iterator[str]:
        return self.operand.deciding(variant)

    def at(self, site: Site) -> Node:
        return Not(self.operand.at(site))

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        return self.operand.landmarks()


@dataclass(frozen=True, slots=True)
class Junction(Node):
    """`and` or `or`: an arm that is `decisive` (false for `and`, true for `or`) decides it alone."""

    arms: tuple[Node, ...]
    decisive: bool

    def truth(self, variant: Variant) -> Truth:
        return junction(map(methodcaller("truth", variant), self.arms), self.decisive)

    def deciding(self, variant: Variant) -> Iterator[str]:
        wanted = self.truth(variant)
        for arm in self.arms:
            if arm.truth(variant) is wanted:
                yield from arm.deciding(variant)

    def at(self, site: Site) -> Node:
        return Junction(tuple(arm.at(site) for arm in self.arms), self.decisive)

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        return (landmark for arm in self.arms for landmark in arm.landmarks())


@dataclass(frozen=True, slots=True)
class Either(Node):
    """A choice of several conditions that depends on an unknown version. It is decided where all agree."""

    meanings: tuple[Node, ...]

    def truth(self, variant: Variant) -> Truth:
        return agreed(meaning.truth(variant) for meaning in self.meanings)

    def deciding(self, variant: Variant) -> Iterator[str]:
        return (path for meaning in self.meanings for path in meaning.deciding(variant))

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        return (landmark for meaning in self.meanings for landmark in meaning.landmarks())


@dataclass(frozen=True, slots=True)
class Term(Node):
    """A condition with a name, which may differ from version to version."""

    name: str
    meaning: ByVersion[Rooted]

    def truth(self, variant: Variant) -> Truth:
        raise _not_at_a_version(self.name)

    def deciding(self, variant: Variant) -> Iterator[str]:
        raise _not_at_a_version(self.name)

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        raise _not_at_a_version(self.name)

    def at(self, site: Site) -> Node:
        meanings = tuple(Constant(None) if one is None else one.root.at(site) for one in self.meaning.possible(site))
        return meanings[0] if len(meanings) == 1 else Either(meanings)
