"""Cost of a configuration's model state on each rank: plain data, for reports."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes on a rank, and the formula with its numbers filled in: `2 B × 1,000 ÷ 8`.

    `bytes` is None where they are not known; then `why` names the setting, or the fact, that is missing.
    """

    bytes: int | None
    formula: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The four parts of model state on a rank, with the model wrapped in one way.

    `key` names the wrapping for programs, `label` for people. `runs` marks the one that the recipe itself has.
    `main_parameters` are the copy that the optimizer steps, in more bits than the model computes with.
    """

    key: str
    label: str
    runs: bool
    parameters: Amount
    gradients: Amount
    main_parameters: Amount
    optimizer_states: Amount

    @property
    def amounts(self) -> tuple[tuple[str, Amount], ...]:
        """The parts by name, in the order in which they are shown."""
        return (
            ("parameters", self.parameters),
            ("gradients", self.gradients),
            ("main parameters", self.main_parameters),
            ("optimizer states", self.optimizer_states),
        )

    @property
    def total(self) -> Amount:
        """All four; not known where one of them is not."""
        parts = [amount.bytes for _, amount in self.amounts]
        known = [each for each in parts if each is not None]
        if len(known) == len(parts):
            return Amount(sum(known))
        return Amount(None, why="; ".join(dict.fromkeys(amount.why for _, amount in self.amounts if amount.why)))


@dataclass(frozen=True, slots=True)
class Given:
    """Parameters that somebody counted: of the whole model, and of those the ones in its experts, if that is known."""

    total: int
    experts: int | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Number of parameters: in the whole model, and on the rank that has most of them.

    `dense` and `experts` are those of that rank before data parallelism shards them; `formula` explains the numbers.
    """

    total: int
    dense: int
    experts: int
    formula: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A line of upstream's that a formula was read in: `megatron/core/…:123` of `release`, and what it says."""

    says: str
    place: str
    release: str


@dataclass(frozen=True, slots=True)
class Memory:
    """The model state of one recipe on each rank, wrapped in every way that Megatron has.

    `ranks` is the number of ranks, None where nobody said it. `shards` and `expert_shards` are how many ranks share
    what is sharded. `count` is None where the parameters are not known, and `why` then says what they depend on.
    `own_why` says why no footprint is the recipe's own, where none is.
    `left_out` is what else takes memory and is not estimated.
    """

    ranks: int | None
    shards: int | None
    expert_shards: int | None
    count: Count | None
    why: str
    footprints: tuple[Footprint, ...]
    sources: tuple[Source, ...]
    left_out: tuple[str, ...]
    own_why: str = ""

    @property
    def own(self) -> Footprint | None:
        """The footprint of the recipe as it is wrapped; None where that is not known."""
        return next((each for each in self.footprints if each.runs), None)


MemoryOf = Callable[[Recipe], Memory]
"""What the memory of a recipe comes to."""
