"""A recipe → what its model state costs on each rank, however it is wrapped.

Bytes on a rank for each part of model state: bytes for each parameter × parameters ÷ the ranks that share them.
"""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Recipe, Settings, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, resolve
from mfsdp_lint.megatron.versions.ranges import parse_range
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.counting import count_parameters, split_evenly
from mfsdp_lint.memory.facts import NotModelled, RankGroups, SettingFacts, layout_of
from mfsdp_lint.memory.result import LEFT_OUT, Amount, Count, Footprint, GivenParameters, Memory, sources_of
from mfsdp_lint.memory.wrappings import (
    DISTRIBUTED,
    MEGATRON,
    TORCH,
    Precision,
    Wrapped,
    Wrapping,
    need_first_version,
    wrapping_of,
    wrappings,
)

_NO_EXPERTS_IN_HYBRID = parse_range("<0.17")
"""Cores whose adapter makes no group of experts where sharding is hybrid (0.16.1, mcore_fsdp_adapter.py:240-268): they
are sharded like dense weights, over ranks that may have other experts."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Numbers of ranks that share dense weights, and experts; each raises NotModelled if it cannot be computed."""

    world: int | None
    layout: RankGroups

    def dense(self) -> int:
        return self.layout.shards(self._world())

    def experts(self) -> int:
        return self.layout.expert_shards(self._world())

    def _world(self) -> int:
        if self.world is None:
            raise NotModelled("the number of ranks is not known (--world-size)")
        return self.world


@dataclass(frozen=True, slots=True)
class WrappedModel:
    """A way of wrapping with a number of parameters, of ranks, and a precision."""

    wrapping: Wrapping
    count: Count
    ranks: Ranks
    precision: Precision

    def footprint(self, runs: bool) -> Footprint:
        """Compute every part, or the reason why it is not known."""
        read = self.precision
        return Footprint(
            key=self.wrapping.key,
            label=self.wrapping.label,
            runs=runs,
            parameters=_amount(lambda: self._part("parameters", (read.parameters(),))),
            gradients=_amount(lambda: self._part("gradients", (read.gradients(),))),
            main_parameters=_amount(lambda: self._part("optimizer", tuple(filter(None, (read.main_parameters(),))))),
            optimizer_states=_amount(lambda: self._part("optimizer", read.states(), read.on_the_device())),
        )

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
        """Count the ranks over which a weight is sharded: those of one instance, if not of all."""
        instances = self.wrapping.instances
        if ranks % instances:
            raise NotModelled(f"{ranks} ranks do not divide among {instances} instances")
        return ranks if self.wrapping.outer and part == "optimizer" else ranks // instances

    @property
    def _spreads(self) -> bool:
        """Tell whether experts are split in another way than dense weights."""
        layout = self.ranks.layout
        return layout.expert > 1 or layout.expert_tensor != layout.tensor

    def _need_modelled(self) -> None:
        wrapping, hybrid = self.wrapping, self.wrapping.instances > 1
        if wrapping.kind == MEGATRON:
            need_first_version(self.precision.facts)
        if not self.count.experts:
            return
        if wrapping.kind == MEGATRON and hybrid and self.precision.core in _NO_EXPERTS_IN_HYBRID and self._spreads:
            raise NotModelled("with HSDP this megatron-core shards experts over ranks that have other experts")
        if wrapping.kind == TORCH and self._spreads:
            raise NotModelled("torch FSDP2 shards experts over ranks that have other experts")
        if wrapping.kind == DISTRIBUTED and hybrid and self.ranks.experts() % wrapping.instances:
            raise NotModelled(f"experts do not divide among {wrapping.instances} instances")


def _amount(made: Callable[[], Amount]) -> Amount:
    try:
        return made()
    except NotModelled as reason:
        return Amount(None, why=str(reason))


_HYBRID = 2
"""Instances of hybrid sharding where a recipe has no more than one."""


def memory(
    recipe: Recipe, target: Target, ranks: int | None = None, parameters: GivenParameters | None = None
) -> Memory:
    """Estimate the bytes of a recipe's model state on the rank that has most of it, by its settings as they will run.

    `ranks` is the number of ranks, `parameters` the number of parameters, if the user gives it. A result that depends
    on an unknown setting is not known, and names that setting; likewise if the recipe's paths differ.
    """
    return _joined([_of(variant, recipe.front_end, target, ranks, parameters) for variant in recipe.variants])


def _of(
    variant: Variant, front_end: FrontEnd, target: Target, ranks: int | None, parameters: GivenParameters | None
) -> Memory:
    settings = resolve(variant, target, ranks, front_end=front_end).run.settings
    facts = SettingFacts(settings)
    said = settings.value(WORLD_SIZE)
    if ranks is None and isinstance(said, Known) and isinstance(said.value, int):
        ranks = said.value
    sources = sources_of(target)
    try:
        layout = layout_of(facts)
        count = _count(parameters, facts, settings, layout, target)
    except NotModelled as reason:
        return Memory(ranks, None, None, None, str(reason), (), sources, LEFT_OUT)
    own, own_why = None, ""
    try:
        own = wrapping_of(facts)
    except NotModelled as reason:
        own_why = str(reason)
    instances = own.instances if own and own.instances > 1 else _HYBRID
    footprints = tuple(
        _footprint(variant, front_end, target, Ranks(ranks, layout), count, each, each == own)
        for each in wrappings(instances)
    )
    return Memory(ranks, *_shards(layout, ranks), count, "", footprints, sources, LEFT_OUT, own_why)


def _count(
    parameters: GivenParameters | None, facts: SettingFacts, settings: Settings, layout: RankGroups, target: Target
) -> Count:
    try:
        return (
            split_evenly(parameters, facts, layout) if parameters else count_parameters(facts, settings, layout, target)
        )
    except NotModelled as reason:
        raise NotModelled(f"parameters: {reason}{'' if parameters else ' (--parameters)'}") from None


def _footprint(
    variant: Variant, front_end: FrontEnd, target: Target, ranks: Ranks, count: Count, wrapping: Wrapping, runs: bool
) -> Footprint:
    """Estimate one way of wrapping. Start-up is resolved with it, since other settings depend on it."""
    wrapped = replace(variant, settings=Wrapped(variant.settings, wrapping))
    run = resolve(wrapped, target, ranks.world, front_end=front_end).run
    precision = Precision(SettingFacts(run.settings), wrapping.kind, target.core)
    return WrappedModel(wrapping, count, ranks, precision).footprint(runs)


def _shards(layout: RankGroups, ranks: int | None) -> tuple[int | None, int | None]:
    try:
        return (None, None) if ranks is None else (layout.shards(ranks), layout.expert_shards(ranks))
    except NotModelled:
        return None, None


# -- several paths through a recipe -----------------------------------------------------------------------------------

_DIFFERS = "the paths through the recipe differ in it"


def _joined(found: list[Memory]) -> Memory:
    """Keep the results that are the same on every path."""
    first, *others = found
    if all(each == first for each in others):
        return first
    count = first.count if all(each.count == first.count for each in others) else None
    if count is None:
        why = first.why if all(each.why == first.why for each in others) else "the number of parameters: " + _DIFFERS
        return replace(first, count=None, shards=None, expert_shards=None, why=why, footprints=())
    if any([each.key for each in other.footprints] != [each.key for each in first.footprints] for other in others):
        return replace(first, footprints=(), why="how the model is wrapped: " + _DIFFERS)
    rows = zip(*(each.footprints for each in found), strict=True)
    footprints = tuple(_same(row) for row in rows)
    own_why = "" if any(each.runs for each in footprints) else first.own_why or _DIFFERS
    return replace(first, footprints=footprints, own_why=own_why)


def _same(row: tuple[Footprint, ...]) -> Footprint:
    parameters, gradients, main, states = (
        _agreed(tuple(each.amounts[part][1] for each in row)) for part in range(len(row[0].amounts))
    )
    return Footprint(row[0].key, row[0].label, all(each.runs for each in row), parameters, gradients, main, states)


def _agreed(amounts: tuple[Amount, ...]) -> Amount:
    first = amounts[0]
    return first if all(each == first for each in amounts) else Amount(None, why=_DIFFERS)
