"""Numbers of parameters: of a model, and of the rank that has most of them.

Layers that a model provider builds, by its class: as far as the snapshot of its release describes it.

Division of a model's layers into pipeline stages, and into those with experts and without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.facts import UNMODELLED, ModelShape, NotModelled, RankGroups, SettingFacts, Split, Tensor
from mfsdp_lint.memory.result import Count, GivenParameters
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import shipped

_MOST_LAYERS = 10_000
"""More than any model has; counting more would take too long."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Numbers of layers of each kind in a stage, and its other parts.

    `predictions` are the layers that predict further tokens, with experts if `predicts_with_experts`. The `first`
    stage has the embedding, the `last` one the output; `copies` says that it has the embedding's weight once more.
    """

    dense: int
    experts: int
    first: bool = False
    last: bool = False
    predictions: int = 0
    predicts_with_experts: bool = False
    copies: bool = False


def _stages(facts: SettingFacts, kinds: Sequence[bool], pipeline: int) -> list[Stage]:
    """Return every stage of a pipeline; `kinds` tells which layers have experts. Raises NotModelled."""
    if pipeline > 1 and len(set(kinds)) > 1 and facts.get("model.virtual_pipeline_model_parallel_size") is not None:
        raise NotModelled("layers of two kinds are interleaved over pipeline stages: not modelled")
    predictions = facts.number("model.mtp_num_layers") if facts.if_any("model.mtp_num_layers") is not None else 0
    tied = facts.on("model.share_embeddings_and_output_weights")
    numbers = _layers_of_stages(facts, len(kinds), pipeline)
    stages = []
    for number, (start, end) in enumerate(pairwise(accumulate(numbers, initial=0))):
        experts, last = sum(kinds[start:end]), number == pipeline - 1
        stages.append(
            Stage(
                dense=end - start - experts,
                experts=experts,
                first=number == 0,
                last=last,
                predictions=predictions if last else 0,
                predicts_with_experts=kinds[-1],
                copies=last and pipeline > 1 and (tied or predictions > 0),
            )
        )
    return stages


def _kinds(facts: SettingFacts, by_layer: bool) -> list[bool]:
    """Tell for each layer whether it has experts."""
    layers = facts.size("model.num_layers")
    if layers > _MOST_LAYERS:
        raise NotModelled(f"model.num_layers is {layers}, which is no number of layers")
    if facts.get("model.num_moe_experts") is None:
        return [False] * layers
    if not by_layer:
        return [True] * layers
    frequency = facts.get("model.moe_layer_freq")
    if isinstance(frequency, int) and not isinstance(frequency, bool) and frequency > 0:
        return [layer % frequency == 0 for layer in range(layers)]
    if isinstance(frequency, list) and len(frequency) == layers and all(each in (0, 1) for each in frequency):
        return [each == 1 for each in frequency]
    raise NotModelled(f"model.moe_layer_freq is {frequency!r}, which is not modelled")


def _layers_of_stages(facts: SettingFacts, layers: int, pipeline: int) -> list[int]:
    """Count the layers of each stage.

    Source: megatron-core 0.16.1, transformer/transformer_block.py:75 (get_num_layers_to_build).
    """
    if pipeline == 1:
        return [layers]
    if facts.if_any("model.pipeline_model_parallel_layout") is not None:
        raise NotModelled("model.pipeline_model_parallel_layout is set, which is not modelled")
    first, last = (
        None if facts.get(path) is None else facts.number(path)
        for path in (f"model.num_layers_in_{end}_pipeline_stage" for end in ("first", "last"))
    )
    said = [each for each in (first, last) if each is not None]
    more = int(facts.on("model.account_for_embedding_in_pipeline_split"))
    final = int(facts.on("model.account_for_loss_in_pipeline_split"))
    between = pipeline - len(said)
    each, rest = divmod(layers - sum(said) + more + final, between) if between else (0, layers - sum(said))
    ends = (each - more if first is None else first, each - final if last is None else last)
    if rest or pipeline > layers + more + final or min(each, *ends) < 0:
        raise NotModelled(f"{layers} layers do not divide among {pipeline} pipeline stages")
    return [ends[0], *[each] * (pipeline - 2), ends[1]]


_GPT = "megatron.bridge.models.gpt_provider"
_SPEC = "transformer_layer_spec"

ONE_LAYER = frozenset(f"{_GPT}.{name}" for name in ("default_layer_spec", "transformer_engine_layer_spec"))
"""Functions that give one kind of layer for all, whatever model.moe_layer_freq and multi_latent_attention say."""
BLOCK = frozenset({"megatron.core.models.gpt.gpt_layer_specs.get_gpt_decoder_block_spec"})
"""Functions that give each layer its own kind."""


def is_by_layer(facts: SettingFacts, settings: Settings, target: Target) -> bool:
    """Tell whether settings decide for each layer of the model. Raises NotModelled if its weights are not counted."""
    name = facts.get("model.__class__")
    snapshot = shipped(target.data)
    if not isinstance(name, str) or snapshot is None:
        raise NotModelled("model.__class__ is not known")
    classes = list(_classes(snapshot, name))
    builder = next((each for each, described in classes if "provide" in described.get("methods", {})), None)
    if builder != f"{_GPT}.GPTModelProvider":
        raise NotModelled(f"the layers of {name} are not modelled")
    layers = _layers(settings, classes)
    if layers in ONE_LAYER or layers in BLOCK:
        return layers in BLOCK
    raise NotModelled(f"the layers of {name} are not modelled ({layers or f'model.{_SPEC} is its own'})")


def _layers(settings: Settings, classes: list[tuple[str, Any]]) -> str | None:
    """Find the function that builds the layers: the recipe's, if it names one, else that of the class."""
    setting = settings.get(f"model.{_SPEC}")
    if setting is not None and isinstance(setting.value, Known):
        value = str(setting.value.value)
        return value.removeprefix("<function ").removesuffix(">")
    if setting is None or setting.origin is None or setting.origin.how != "default":
        return None
    for _, described in classes:
        for name, node, *_ in described.get("fields", ()):
            if name == _SPEC:
                return _function(node)
    return None


def _function(node: Any) -> str | None:
    """Return the name of a function, or of a partial call's function."""
    match node:
        case ["ref", module, name]:
            return f"{module}.{name}"
        case ["partial", inner, *_]:
            return _function(inner)
        case _:
            return None


def _classes(snapshot: Snapshot, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a class and its bases, the nearest first, each with its description in the snapshot."""
    module, _, last = name.rpartition(".")
    if last not in (snapshot.names(module) or ()):
        return
    entry = snapshot.entry(module, last)
    match entry:
        case ["from", elsewhere, again]:
            yield from _classes(snapshot, f"{elsewhere}.{again}")
        case ["class", described]:
            yield name, described
            for base in described.get("bases", ()):
                if inherited := _function(base):
                    yield from _classes(snapshot, inherited)


_Sums = Counter[Split]


def split_evenly(parameters: GivenParameters, facts: SettingFacts, layout: RankGroups) -> Count:
    """Split counted parameters evenly. Raises NotModelled if that requires the number of parameters in experts."""
    experts = parameters.experts
    if experts is None:
        # Where experts are split like the rest, it makes no difference.
        same = layout.expert == 1 and layout.expert_tensor == layout.tensor
        if not same and facts.get("model.num_moe_experts") is not None:
            raise NotModelled("how many are in experts is not known (--parameters TOTAL,EXPERTS)")
        experts = 0
    dense = parameters.total - experts
    by, among = layout.tensor * layout.pipeline, layout.expert_tensor * layout.expert * layout.pipeline
    said = [f"{parameters.total:,} parameters, as given"]
    if by > 1:
        said.append(f"split evenly by TP × PP: {dense:,} ÷ {by}")
    if experts:
        said.append(f"experts split evenly by ETP × EP × PP: {experts:,} ÷ {among}")
    return Count(parameters.total, -(-dense // by), -(-experts // among), tuple(said))


def count_parameters(facts: SettingFacts, settings: Settings, layout: RankGroups, target: Target) -> Count:
    """Count parameters by the model's settings. Raises NotModelled."""
    by_layer = is_by_layer(facts, settings, target)
    for path, understood in UNMODELLED.items():
        if (value := facts.if_any(path)) not in understood:
            raise NotModelled(f"{path} is {value!r}, which is not modelled")
    latent = facts.on("model.multi_latent_attention")
    if latent and not by_layer:
        raise NotModelled("model.multi_latent_attention is on, which the layers of this provider do not follow")
    parts = _Parts(ModelShape(facts, latent))
    kinds = _kinds(facts, by_layer)
    total = parts.sums(_stages(facts, kinds, 1)[0]).total()
    held = [_held(parts.sums(stage), layout) for stage in _stages(facts, kinds, layout.pipeline)]
    fullest = max(range(len(held)), key=lambda stage: sum(held[stage]))
    return Count(total, *held[fullest], _told(total, held[fullest], fullest, layout))


class _Parts:
    """Parameters of the parts of a model; equal layers are counted once."""

    __slots__ = ("_layers", "_shape")

    def __init__(self, shape: ModelShape) -> None:
        self._shape = shape
        self._layers: dict[bool, _Sums] = {}

    def sums(self, stage: Stage) -> _Sums:
        """Count the parameters of a stage, by how they are split."""
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


def _held(sums: _Sums, layout: RankGroups) -> tuple[int, int]:
    """Count dense and expert parameters on one rank."""
    experts = -(-sums["expert"] // layout.expert) + -(-sums["expert tensor"] // (layout.expert * layout.expert_tensor))
    return sums["whole"] + -(-sums["tensor"] // layout.tensor), experts


def _told(total: int, held: tuple[int, int], stage: int, layout: RankGroups) -> tuple[str, ...]:
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
