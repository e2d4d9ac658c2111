"""A recipe → its cost on each rank, however it is wrapped; plain data, for reports.

Bytes on a rank for each part of model state: bytes for each parameter × parameters ÷ the ranks that share them. Sources
of the formulas are lines of megatron-core, as each supported Megatron-Bridge release pins it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Recipe, Settings, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE, resolve
from mfsdp_lint.megatron.versions import Target, parse_range
from mfsdp_lint.memory.activations import activations
from mfsdp_lint.memory.counting import Count, GivenParameters, Model, count_parameters, model_of, split_evenly
from mfsdp_lint.memory.facts import (
    DISTRIBUTED,
    MEGATRON,
    TORCH,
    NotModelled,
    Precision,
    RankGroups,
    SettingFacts,
    Wrapping,
    layout_of,
    need_first_version,
    wrapping_of,
    wrappings,
)

GIB = 2**30

Fit = Literal["fits", "close", "does not fit", "not known"]


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes on a rank, and the formula with its numbers filled in: `2 B × 1,000 ÷ 8`.

    `bytes` is None where they are not known; then `why` names the setting, or the fact, that is missing.
    """

    bytes: int | None
    formula: str = ""
    why: str = ""


UNKNOWN_AMOUNT = Amount(None)


@dataclass(frozen=True, slots=True)
class Footprint:
    """The four parts of model state on a rank, with the model wrapped in one way.

    `key` names the wrapping for programs, `label` for people. `runs` marks the one that the recipe itself has.
    `amounts` are the parts by name, in the order in which they are shown. "main parameters" are the copy that the
    optimizer steps, in more bits than the model computes with. `gathered` is what FSDP gathers for a while.
    """

    key: str
    label: str
    runs: bool
    amounts: tuple[tuple[str, Amount], ...]
    gathered: Amount = UNKNOWN_AMOUNT
    activations: Amount = UNKNOWN_AMOUNT

    @property
    def total(self) -> Amount:
        """All four; not known where one of them is not."""
        return _sum([amount for _, amount in self.amounts])

    @property
    def needed(self) -> Amount:
        """Model state, what is gathered, and activations; not known where one of them is not."""
        return _sum((self.total, self.gathered, self.activations))


def _sum(parts: Sequence[Amount]) -> Amount:
    known = [each.bytes for each in parts if each.bytes is not None]
    if len(known) == len(parts):
        return Amount(sum(known))
    return Amount(None, why="; ".join(dict.fromkeys(each.why for each in parts if each.why)))


@dataclass(frozen=True, slots=True)
class FormulaSource:
    """A line of upstream's that a formula was read in: `megatron/core/…:123` of `release`, and what it says."""

    says: str
    place: str
    release: str


@dataclass(frozen=True, slots=True)
class Limit:
    """The memory of a GPU: its bytes, and its name for people."""

    bytes: int
    label: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings with which a recipe would fit, and the bytes on a rank that it needs then."""

    changes: tuple[tuple[str, Plain], ...]
    bytes: int
    fit: Fit


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer whether a recipe fits; `why` says what decides it, or what is not known."""

    fit: Fit
    limit: Limit
    why: str
    proposals: tuple[Proposal, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """The model state of one recipe on each rank, wrapped in every way that Megatron has.

    `ranks` is the number of ranks, None where nobody said it. `shards` and `expert_shards` are how many ranks share
    what is sharded. `count` is None where the parameters are not known, and `why` then says what they depend on.
    `own_why` says why no footprint is the recipe's own, where none is.
    `left_out` is what else takes memory and is not estimated. `fit` says whether the recipe fits a GPU, if that was
    asked.
    """

    ranks: int | None
    shards: int | None
    expert_shards: int | None
    count: Count | None
    why: str
    footprints: tuple[Footprint, ...]
    sources: tuple[FormulaSource, ...]
    left_out: tuple[str, ...]
    own_why: str = ""
    fit: Answer | None = None

    @property
    def own(self) -> Footprint | None:
        """The footprint of the recipe as it is wrapped; None where that is not known."""
        return next((each for each in self.footprints if each.runs), None)


MemoryOf = Callable[[Recipe], Memory]
"""Estimates the memory of a recipe."""


_NO_EXPERTS_IN_HYBRID = parse_range("<0.17")
"""Cores whose adapter makes no group of experts where sharding is hybrid (0.16.1, mcore_fsdp_adapter.py:240-268): they
are sharded like dense weights, over ranks that may have other experts."""

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
    why, model, unmodelled = "{}", None, ""
    try:
        layout = layout_of(facts)
        why = "parameters: {}" if parameters else "parameters: {} (--parameters)"
        try:
            model = model_of(facts, settings, layout, target)
        except NotModelled as reason:
            if parameters is None:
                raise
            unmodelled = str(reason)
        given = split_evenly(parameters, facts, layout) if parameters else None
        count = given or count_parameters(model, layout) if model else given
        assert count is not None
    except NotModelled as reason:
        return Memory(ranks, None, None, None, why.format(reason), (), sources, LEFT_OUT)
    own, own_why = None, ""
    try:
        own = wrapping_of(facts)
    except NotModelled as reason:
        own_why = str(reason)
    footprints = []
    for wrapping in wrappings(own.instances if own and own.instances > 1 else _HYBRID):
        # Start-up is resolved with each way of wrapping, since other settings depend on it.
        wrapped = replace(variant, settings=With.known(variant.settings, wrapping.settings()))
        run = SettingFacts(resolve(wrapped, target, ranks, front_end=front_end).run.settings)
        precision = Precision(run, wrapping.kind, target.core)
        footprint = WrappedModel(wrapping, count, layout, ranks, precision).footprint(wrapping == own)
        kept = (
            Amount(None, why=f"activations: {unmodelled}") if model is None else _activations(run, model, layout, ranks)
        )
        footprints.append(replace(footprint, activations=kept))
    dense: int | None = None
    experts: int | None = None
    with suppress(NotModelled):
        dense, experts = layout.shards(ranks), layout.expert_shards(ranks)
    left_out = (*([f"{count.without}: weights, model state and activations"] if count.without else ()), *LEFT_OUT)
    return Memory(ranks, dense, experts, count, "", tuple(footprints), sources, left_out, own_why)


_UNITS = 2
"""The units that FSDP has gathered at once: the one at work, and the next one."""

_OFFLOADED = ("model.cpu_offloading_weights", "optimizer.offload_optimizer_states")
"""Switches that take weights or states off the device for a part of the step."""


def least_state(run: Settings, target: Target, ranks: int | None) -> int | None:
    """Return bytes of model state that the fullest rank surely holds, by settings as they will run.

    A part that is not modelled counts as nothing, and so does one that is sharded over an unknown number of ranks.
    Return None if the model is not known.
    """
    facts = SettingFacts(run)
    try:
        if any(facts.if_any(path) for path in _OFFLOADED):
            return None
        layout, wrapping = layout_of(facts), wrapping_of(facts)
        count = count_parameters(model_of(facts, run, layout, target), layout)
    except NotModelled:
        return None
    held = WrappedModel(wrapping, count, layout, ranks, Precision(facts, wrapping.kind, target.core)).footprint(True)
    return sum(amount.bytes for _, amount in held.amounts if amount.bytes is not None)


def _activations(facts: SettingFacts, model: Model, layout: RankGroups, ranks: int | None) -> Amount:
    """Estimate activations by the settings that will run, or say why that is not possible."""
    try:
        found = activations(facts, model.shape, model.layers, layout, ranks)
    except NotModelled as reason:
        return Amount(None, why=f"activations: {reason}")
    except OverflowError:
        return Amount(None, why="activations: the sizes make no sense")
    return Amount(found.bytes, found.formula)


@dataclass(frozen=True, slots=True)
class WrappedModel:
    """A way of wrapping with a number of parameters, of ranks, and a precision."""

    wrapping: Wrapping
    count: Count
    layout: RankGroups
    ranks: int | None
    precision: Precision

    def footprint(self, runs: bool) -> Footprint:
        """Compute every part, or the reason why it is not known."""
        read = self.precision
        amounts = (
            ("parameters", self._part("parameters", lambda: (read.parameters(),))),
            ("gradients", self._part("gradients", lambda: (read.gradients(),))),
            ("main parameters", self._part("optimizer", lambda: tuple(filter(None, (read.main_parameters(),))))),
            ("optimizer states", self._part("optimizer", read.states, read.on_the_device)),
        )
        return Footprint(self.wrapping.key, self.wrapping.label, runs, amounts, self._gathered())

    def _gathered(self) -> Amount:
        """Return what FSDP gathers for a while: the weights at work, and their gradients before they are reduced.

        Facts of megatron-core 0.16.1. Megatron-FSDP with optim_grads_params makes a unit of every transformer layer
        (distributed/fsdp/mcore_fsdp_adapter.py:96); two are gathered at once: the one at work and the next one, which
        fsdp_double_buffer keeps two buffers for (megatron_fsdp.py:384, param_and_grad_buffer.py:661). Weights in no
        layer are gathered as well (megatron_fsdp.py:692). torch FSDP2 makes units of layers, the embedding and the
        output layer (distributed/torch_fully_sharded_data_parallel.py:60).
        """
        if "parameters" not in self.wrapping.sharded or self.wrapping.kind not in (MEGATRON, TORCH):
            return Amount(0, "none")
        layer, loose = self.count.layer, self.count.loose
        if layer is None or loose is None:
            return Amount(None, why="what is gathered: the size of a layer is not known")
        try:
            weight, gradient = self.precision.parameters(), self.precision.gradients()
        except NotModelled as reason:
            return Amount(None, why=f"what is gathered: {reason}")
        formula = f"({weight} + {gradient}) B × {_UNITS} × {layer:,} + {weight} B × {loose:,}"
        return Amount(_UNITS * layer * (weight + gradient) + loose * weight, formula)

    def _part(
        self, part: str, bytes_of: Callable[[], tuple[int, ...]], share: Callable[[], float] = lambda: 1.0
    ) -> Amount:
        try:
            return self._amount(part, bytes_of(), share())
        except NotModelled as reason:
            return Amount(None, why=str(reason))

    def _amount(self, part: str, each: tuple[int, ...], share: float) -> Amount:
        if not each or not share:
            return Amount(0, "none")
        self._need_modelled()
        size = sum(each)
        spelled = f"{size} B" if len(each) == 1 else f"({' + '.join(map(str, each))}) B"
        portion = "" if share == 1 else f" × {share:g}"
        dense, experts = self.count.dense, self.count.experts
        if part not in self.wrapping.sharded:
            return Amount(round((dense + experts) * size * share), f"{spelled} × {dense + experts:,}{portion}")
        by = self._ways(self.layout.shards(self.ranks), part)
        if not experts:
            return Amount(round(-(-dense // by) * size * share), f"{spelled} × {dense:,} ÷ {by}{portion}")
        among = self._ways(self.layout.expert_shards(self.ranks), part)
        shard = -(-dense // by) + -(-experts // among)
        return Amount(round(shard * size * share), f"{spelled} × ({dense:,} ÷ {by} + {experts:,} ÷ {among}){portion}")

    def _ways(self, ranks: int, part: str) -> int:
        """Count the ranks over which a weight is sharded: those of one instance, if not of all."""
        instances = self.wrapping.instances
        if ranks % instances:
            raise NotModelled(f"{ranks} ranks do not divide among {instances} instances")
        return ranks if self.wrapping.outer and part == "optimizer" else ranks // instances

    def _need_modelled(self) -> None:
        wrapping, hybrid = self.wrapping, self.wrapping.instances > 1
        if wrapping.kind == MEGATRON:
            need_first_version(self.precision.facts)
        if not self.count.experts:
            return
        # Experts are split in another way than dense weights.
        spreads = self.layout.expert > 1 or self.layout.expert_tensor != self.layout.tensor
        if wrapping.kind == MEGATRON and hybrid and self.precision.core in _NO_EXPERTS_IN_HYBRID and spreads:
            raise NotModelled("with HSDP this megatron-core shards experts over ranks that have other experts")
        if wrapping.kind == TORCH and spreads:
            raise NotModelled("torch FSDP2 shards experts over ranks that have other experts")
        if wrapping.kind == DISTRIBUTED and hybrid and self.layout.expert_shards(self.ranks) % wrapping.instances:
            raise NotModelled(f"experts do not divide among {wrapping.instances} instances")


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
    footprints = tuple(_same(row) for row in zip(*(each.footprints for each in found), strict=True))
    own_why = "" if any(each.runs for each in footprints) else first.own_why or _DIFFERS
    return replace(first, footprints=footprints, own_why=own_why)


def _same(row: tuple[Footprint, ...]) -> Footprint:
    """Keep the amounts of a footprint that are the same on every path."""
    columns = zip(*(each.amounts for each in row), strict=True)
    agreed = (each[0] if len(set(each)) == 1 else (each[0][0], Amount(None, why=_DIFFERS)) for each in columns)
    besides = (
        part[0] if len(set(part)) == 1 else Amount(None, why=_DIFFERS)
        for part in ([each.gathered for each in row], [each.activations for each in row])
    )
    return Footprint(row[0].key, row[0].label, all(each.runs for each in row), tuple(agreed), *besides)


_RELEASES = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")
_FSDP = "distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py"
_BUFFERS = "distributed/param_and_grad_buffer.py"
_OPTIMIZER = "optimizer/__init__.py"
_REDUCED = "gradients of DDP: fp32 with grad_reduce_in_fp32, else as the weights"


_READ = (
    (
        "ranks that share a dense weight: world ÷ (TP × PP × CP), and CP shards too",
        "parallel_state.py",
        (700, 743, 747, 738, 825, 825),
    ),
    ("ranks that share an expert: world ÷ (ETP × EP × PP)", "parallel_state.py", (748, 791, 795, 786, 880, 880)),
    (_REDUCED, "distributed/distributed_data_parallel.py", (168, 147, 148, 0, 0, 0)),
    (_REDUCED, _BUFFERS, (0, 0, 0, 859, 917, 924)),
    (
        "distributed optimizer: whole weights in a buffer, gradients in another",
        _BUFFERS,
        (716, 797, 1053, 1116, 1176, 1184),
    ),
    ("DDP: fp32 main parameters of weights in 16 bits", "optimizer/optimizer.py", (670, 674, 675, 702, 1012, 1012)),
    (
        "distributed optimizer: fp32 main parameters of a rank's part",
        "optimizer/distrib_optimizer.py",
        (396, 399, 404, 422, 433, 445),
    ),
    ("Adam: two states for each parameter that is stepped", _OPTIMIZER, (402, 397, 581, 594, 594, 596)),
    ("precision-aware: dtypes of the states", _OPTIMIZER, (373, 368, 552, 565, 565, 567)),
    ("precision-aware with Megatron-FSDP: main parameters are FSDP's alone", _OPTIMIZER, (0, 0, 0, 1087, 1126, 1152)),
    (
        "offload: the optimizer's part up to a fraction of the parameters",
        "optimizer/cpu_offloading/hybrid_optimizer.py",
        (258, 258, 258, 258, 258, 258),
    ),
    ("Megatron-FSDP: what each strategy shards", _FSDP, (1738, 1849, 1924, 1935, 2323, 2330)),
    ("Megatron-FSDP: the buffer of main parameters", _FSDP, (1849, 2005, 2278, 2290, 2687, 2694)),
    ("Megatron-FSDP: what gradients are added up in", _FSDP, (1874, 2030, 2216, 2228, 2310, 2317)),
    ("Megatron-FSDP: HSDP that shards over the instances too", _FSDP, (1785, 1902, 2092, 2103, 2491, 2498)),
    (
        "torch FSDP2: every weight is sharded, and so are gradients and states",
        "distributed/torch_fully_sharded_data_parallel.py",
        (134, 134, 134, 134, 136, 136),
    ),
)
"""Facts that lines of core state: in words, the file, and the line in each of _RELEASES, 0 if a release has none."""

LEFT_OUT = (
    "of activations: the gates of MLPs, logits in 32 bits, layers that predict further tokens, fp8, what is offloaded "
    "in fine grains",
    "what FSDP gathers beyond the layer at work and the next one, and buckets of gradients where weights are whole",
    "gradients that the optimizer's step copies to fp32 where they are added up in 16 bits",
    "what pads buffers so that they divide among ranks",
    "communication buffers, workspaces, CUDA's own, the loss of fragmentation",
)
"""Other uses of memory, which are not estimated."""


def sources_of(target: Target) -> tuple[FormulaSource, ...]:
    """Return the lines for a target, by the release whose data is used for it."""
    column = _RELEASES.index(target.data) if target.data in _RELEASES else len(_RELEASES) - 1
    release = f"the megatron-core of megatron-bridge {_RELEASES[column]}"
    return tuple(
        FormulaSource(says, f"megatron/core/{path}:{lines[column]}", release)
        for says, path, lines in _READ
        if lines[column]
    )
