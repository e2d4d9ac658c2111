"""Bytes on a rank for each part of model state: bytes for each parameter × parameters ÷ the ranks that share them."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import NotKnown
from mfsdp_lint.memory.layout import Layout
from mfsdp_lint.memory.precision import Precision
from mfsdp_lint.memory.result import Amount, Count, Footprint
from mfsdp_lint.memory.wrappings import DISTRIBUTED, MEGATRON, TORCH, Wrapping, need_first_version
from mfsdp_lint.versions.ranges import parse_range

_NO_EXPERTS_IN_HYBRID = parse_range("<0.17")
"""Cores whose adapter makes no group of experts where sharding is hybrid (0.16.1, mcore_fsdp_adapter.py:240-268): they
are sharded like dense weights, over ranks that may have other experts."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """How many ranks share dense weights, and experts, by all that is known; each raises NotKnown if it is asked."""

    world: int | None
    layout: Layout

    def dense(self) -> int:
        return self.layout.shards(self._world())

    def experts(self) -> int:
        return self.layout.expert_shards(self._world())

    def _world(self) -> int:
        if self.world is None:
            raise NotKnown("the number of ranks is not known (--world-size)")
        return self.world


@dataclass(frozen=True, slots=True)
class Case:
    """One way of wrapping so many parameters, on so many ranks, in this precision."""

    wrapping: Wrapping
    count: Count
    ranks: Ranks
    precision: Precision

    def footprint(self, runs: bool) -> Footprint:
        """Every part, or why it is not known."""
        return Footprint(
            key=self.wrapping.key,
            label=self.wrapping.label,
            runs=runs,
            parameters=_amount(self._parameters),
            gradients=_amount(self._gradients),
            main_parameters=_amount(self._main_parameters),
            optimizer_states=_amount(self._states),
        )

    def _parameters(self) -> Amount:
        return self._part("parameters", (self.precision.parameters(),))

    def _gradients(self) -> Amount:
        return self._part("gradients", (self.precision.gradients(),))

    def _main_parameters(self) -> Amount:
        return self._part("optimizer", tuple(filter(None, (self.precision.main_parameters(),))))

    def _states(self) -> Amount:
        return self._part("optimizer", self.precision.states(), self.precision.on_the_device())

    def _part(self, part: str, each: tuple[int, ...], share: float = 1.0) -> Amount:
        if not each or not share:
            return Amount(0, "none")
        self._need_modelled()
        size = sum(each)
        spelled = f"{size} B" if len(each) == 1 else f"({' + '.join(map(str, each))}) B"
        portion = "" if share == 1 else f" × {share:g}"
        dense, experts = self.count.dense, self.count.experts
        if part not in self.wrapping.sharded:
            return Amount(round((dense + experts) * size * share), f"{spelled} × {dense + experts:,}{portion}")
        by = self._ways(self.ranks.dense(), part)
        if not experts:
            return Amount(round(-(-dense // by) * size * share), f"{spelled} × {dense:,} ÷ {by}{portion}")
        among = self._ways(self.ranks.experts(), part)
        shard = -(-dense // by) + -(-experts // among)
        return Amount(round(shard * size * share), f"{spelled} × ({dense:,} ÷ {by} + {experts:,} ÷ {among}){portion}")

    def _ways(self, ranks: int, part: str) -> int:
        """Over how many of the ranks that share a weight it is sharded: those of one instance, if not of all."""
        instances = self.wrapping.instances
        if ranks % instances:
            raise NotKnown(f"{ranks} ranks do not divide among {instances} instances")
        return ranks if self.wrapping.outer and part == "optimizer" else ranks // instances

    @property
    def _spreads(self) -> bool:
        """Whether experts are split in another way than dense weights."""
        layout = self.ranks.layout
        return layout.expert > 1 or layout.expert_tensor != layout.tensor

    def _need_modelled(self) -> None:
        wrapping, hybrid = self.wrapping, self.wrapping.instances > 1
        if wrapping.kind == MEGATRON:
            need_first_version(self.precision.facts)
        if not self.count.experts:
            return
        if wrapping.kind == MEGATRON and hybrid and self.precision.core in _NO_EXPERTS_IN_HYBRID and self._spreads:
            raise NotKnown("with HSDP this megatron-core shards experts over ranks that have other experts")
        if wrapping.kind == TORCH and self._spreads:
            raise NotKnown("torch FSDP2 shards experts over ranks that have other experts")
        if wrapping.kind == DISTRIBUTED and hybrid and self.ranks.experts() % wrapping.instances:
            raise NotKnown(f"experts do not divide among {wrapping.instances} instances")


def _amount(made: Callable[[], Amount]) -> Amount:
    try:
        return made()
    except NotKnown as reason:
        return Amount(None, why=str(reason))
