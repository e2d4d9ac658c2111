"""How many parameters a model has, and how many the rank that has most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.memory.facts import Facts, NotKnown
from mfsdp_lint.memory.families import family_of
from mfsdp_lint.memory.layers import UNMODELLED, Shape, Split, Tensor
from mfsdp_lint.memory.layout import Layout
from mfsdp_lint.memory.result import Count, Given
from mfsdp_lint.memory.stages import Stage, stages_of, whole_model
from mfsdp_lint.versions.target import Target

_Sums = Counter[Split]


def given(parameters: Given, facts: Facts, layout: Layout) -> Count:
    """Counted parameters, split evenly. Raises NotKnown where it takes to know how many are in experts."""
    experts = parameters.experts
    if experts is None:
        # Where experts are split like the rest, it makes no difference.
        same = layout.expert == 1 and layout.expert_tensor == layout.tensor
        if not same and facts.get("model.num_moe_experts") is not None:
            raise NotKnown("how many are in experts is not known (--parameters TOTAL,EXPERTS)")
        experts = 0
    dense = parameters.total - experts
    by, among = layout.tensor * layout.pipeline, layout.expert_tensor * layout.expert * layout.pipeline
    said = [f"{parameters.total:,} parameters, as given"]
    if by > 1:
        said.append(f"split evenly by TP × PP: {dense:,} ÷ {by}")
    if experts:
        said.append(f"experts split evenly by ETP × EP × PP: {experts:,} ÷ {among}")
    return Count(parameters.total, -(-dense // by), -(-experts // among), tuple(said))


def counted(facts: Facts, settings: Settings, layout: Layout, target: Target) -> Count:
    """Parameters as the model's settings say. Raises NotKnown."""
    by_layer = family_of(facts, settings, target).by_layer
    for path, understood in UNMODELLED.items():
        if (value := facts.if_any(path)) not in understood:
            raise NotKnown(f"{path} is {value!r}, which is not modelled")
    latent = facts.on("model.multi_latent_attention")
    if latent and not by_layer:
        raise NotKnown("model.multi_latent_attention is on, which the layers of this provider do not follow")
    parts = _Parts(Shape(facts, latent))
    total = parts.sums(whole_model(facts, by_layer)).total()
    held = [_held(parts.sums(stage), layout) for stage in stages_of(facts, by_layer, layout.pipeline)]
    fullest = max(range(len(held)), key=lambda stage: sum(held[stage]))
    return Count(total, *held[fullest], _told(total, held[fullest], fullest, layout))


class _Parts:
    """What the parts of a model have; a layer is counted once for all that are like it."""

    __slots__ = ("_layers", "_shape")

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._layers: dict[bool, _Sums] = {}

    def sums(self, stage: Stage) -> _Sums:
        """The parameters of a stage, by how they are split."""
        sums: _Sums = Counter()
        for experts, layers in ((False, stage.dense), (True, stage.experts)):
            if layers:
                _add(sums, self._layer(experts).items(), layers)
        if stage.first:
            _put(sums, self._shape.embedding())
        if stage.last:
            _put(sums, self._shape.output())
        if stage.predictions:
            _add(sums, self._layer(stage.predicts_with_experts).items(), stage.predictions)
            for numbers, split in self._shape.prediction():
                sums[split] += stage.predictions * numbers
        if stage.copies:
            _put(sums, self._shape.word_embedding())
        return sums

    def _layer(self, experts: bool) -> _Sums:
        if experts not in self._layers:
            self._layers[experts] = Counter()
            _put(self._layers[experts], self._shape.layer(experts))
        return self._layers[experts]


def _put(sums: _Sums, tensors: Iterable[Tensor]) -> None:
    for numbers, split in tensors:
        sums[split] += numbers


def _add(sums: _Sums, more: Iterable[tuple[Split, int]], times: int) -> None:
    for split, numbers in more:
        sums[split] += times * numbers


def _held(sums: _Sums, layout: Layout) -> tuple[int, int]:
    """Dense and expert parameters on one rank."""
    experts = -(-sums["expert"] // layout.expert) + -(-sums["expert tensor"] // (layout.expert * layout.expert_tensor))
    return sums["whole"] + -(-sums["tensor"] // layout.tensor), experts


def _told(total: int, held: tuple[int, int], stage: int, layout: Layout) -> tuple[str, ...]:
    told = [f"{total:,} parameters, by the model's settings"]
    if sum(held) == total:
        return tuple(told)
    splits = {"TP": layout.tensor, "PP": layout.pipeline}
    if held[1]:
        splits |= {"EP": layout.expert, "ETP": layout.expert_tensor}
    split = " × ".join(f"{name} {size}" for name, size in splits.items() if size > 1)
    of = f" of pipeline stage {stage + 1} of {layout.pipeline}, the fullest" if layout.pipeline > 1 else ""
    experts = f", {held[1]:,} of them in experts" if held[1] else ""
    return (*told, f"{sum(held):,} on a rank{of}{experts} ({split})")
