"""The pieces of a condition, in three-valued logic; conditions.py reads them from a text.

Each is true, false, or unknown (None). It is decided only if every value that the unknown settings could still have
gives the same answer (Kleene), so a rule never speaks of what nobody knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from operator import methodcaller
from typing import Protocol

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, possible
from mfsdp_lint.megatron.conditions.applicability import Site
from mfsdp_lint.megatron.conditions.byversion import ByVersion
from mfsdp_lint.megatron.conditions.expressions import Expression
from mfsdp_lint.megatron.conditions.truth import Truth, agreed, junction

_MOST_COMBINATIONS = 1000
"""Of values that a comparison of several settings tries; with more it is undecided."""


class Rooted(Protocol):
    """An object that means a piece of a condition."""

    @property
    def root(self) -> Node:
        """The piece."""


class Node(Protocol):
    """A piece of a condition."""

    def truth(self, variant: Variant) -> Truth:
        """Return true, false, or None where it is not decided."""

    def deciding(self, variant: Variant) -> Iterator[str]:
        """Yield the settings that decided its truth; to be asked only where it is decided."""

    def at(self, site: Site) -> Node:
        """Return the node at one site: its terms have their meaning there."""

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        """Yield the settings in it, each with the literals that it is compared with."""


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false, whatever the settings are; None: a term that means nothing where it is judged."""

    value: Truth

    def truth(self, variant: Variant) -> Truth:
        return self.value

    def deciding(self, variant: Variant) -> Iterator[str]:
        return iter(())

    def at(self, site: Site) -> Node:
        return self

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Test:
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

    def at(self, site: Site) -> Node:
        return self

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        yield self.path, self.literals


@dataclass(frozen=True, slots=True)
class Comparison:
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
        return agreed(self._answer(dict(zip(paths, values, strict=True))) for values in product(*known))

    def _answer(self, values: dict[str, Plain]) -> Truth:
        return self.ask(*(operand.of(values) for operand in self.operands))

    def deciding(self, variant: Variant) -> Iterator[str]:
        return (path for operand in self.operands for path in operand.paths())

    def at(self, site: Site) -> Node:
        return Comparison(tuple(operand.at(site) for operand in self.operands), self.ask, self.literals)

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        literals = (*self.literals, *(value for operand in self.operands for value in operand.landmarks()))
        return ((path, literals) for operand in self.operands for path in operand.paths())


@dataclass(frozen=True, slots=True)
class Not:
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
class Junction:
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
class Either:
    """A choice of several conditions that depends on an unknown version. It is decided where all agree."""

    meanings: tuple[Node, ...]

    def truth(self, variant: Variant) -> Truth:
        return agreed(meaning.truth(variant) for meaning in self.meanings)

    def deciding(self, variant: Variant) -> Iterator[str]:
        return (path for meaning in self.meanings for path in meaning.deciding(variant))

    def at(self, site: Site) -> Node:
        return self

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        return (landmark for meaning in self.meanings for landmark in meaning.landmarks())


@dataclass(frozen=True, slots=True)
class Term:
    """A condition with a name, which may differ from version to version."""

    name: str
    meaning: ByVersion[Rooted]

    def truth(self, variant: Variant) -> Truth:
        raise self._error()

    def deciding(self, variant: Variant) -> Iterator[str]:
        raise self._error()

    def landmarks(self) -> Iterator[tuple[str, tuple[Plain, ...]]]:
        raise self._error()

    def at(self, site: Site) -> Node:
        meanings = tuple(Constant(None) if one is None else one.root.at(site) for one in self.meaning.possible(site))
        return meanings[0] if len(meanings) == 1 else Either(meanings)

    def _error(self) -> ValueError:
        return ValueError(f"the term {self.name} has to be taken at a version before it is judged")
