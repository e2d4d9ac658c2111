"""How many parameters a model has, and how many the rank that has most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.memory.facts import Facts, NotKnown
from mfsdp_lint.memory.families import family_of
from mfsdp_lint.memory.layers import UNMODELLED, Shape, Split, Tensor
from mfsdp_lint.memory.layout import Layout
from mfsdp_lint.memory.result import Count, Given
from mfsdp_lint.versions.target import Target


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
    family = family_of(facts, settings, target)
    for path, understood in UNMODELLED.items():
        if (value := facts.if_any(path)) not in understood:
            raise NotKnown(f"{path} is {value!r}, which is not modelled")
    latent = facts.on("model.multi_latent_attention")
    if latent and not family.by_layer:
        raise NotKnown("model.multi_latent_attention is on, which the layers of this provider do not follow")
    shape = Shape(facts)
    kinds = _kinds(facts, family.by_layer)
    stages = _stages(facts, shape, kinds, latent, layout.pipeline)
    whole = chain(
        shape.embedding(),
        *(shape.layer(kind, latent) for kind in kinds),
        shape.output(),
        *_mtp(facts, shape, kinds, latent),
    )
    total = sum(numbers for numbers, _ in whole)
    held = [_held(stage, layout) for stage in stages]
    fullest = max(range(len(held)), key=lambda stage: sum(held[stage]))
    return Count(total, *held[fullest], _told(total, held[fullest], fullest, layout))


def _told(total: int, held: tuple[int, int], stage: int, layout: Layout) -> tuple[str, ...]:
    told = [f"{total:,} parameters, by the model's settings"]
    splits = {"TP": layout.tensor, "PP": layout.pipeline}
    if held[1]:
        splits |= {"EP": layout.expert, "ETP": layout.expert_tensor}
    split = " × ".join(f"{name} {size}" for name, size in splits.items() if size > 1)
    if sum(held) != total:
        of = f" of pipeline stage {stage + 1} of {layout.pipeline}, the fullest" if layout.pipeline > 1 else ""
        experts = f", {held[1]:,} of them in experts" if held[1] else ""
        told.append(f"{sum(held):,} on a rank{of}{experts} ({split or 'one copy'})")
    return tuple(told)


def _held(tensors: Iterable[Tensor], layout: Layout) -> tuple[int, int]:
    """Dense and expert parameters on one rank."""
    sums: Counter[Split] = Counter()
    for numbers, split in tensors:
        sums[split] += numbers
    experts = -(-sums["expert"] // layout.expert) + -(-sums["expert tensor"] // (layout.expert * layout.expert_tensor))
    return sums["whole"] + -(-sums["tensor"] // layout.tensor), experts


def _kinds(facts: Facts, by_layer: bool) -> list[bool]:
    """Which layers have experts."""
    layers = facts.size("model.num_layers")
    if facts.get("model.num_moe_experts") is None:
        return [False] * layers
    if not by_layer:
        return [True] * layers
    frequency = facts.get("model.moe_layer_freq")
    if isinstance(frequency, int) and not isinstance(frequency, bool) and frequency > 0:
        return [layer % frequency == 0 for layer in range(layers)]
    if isinstance(frequency, list) and len(frequency) == layers and all(each in (0, 1) for each in frequency):
        return [each == 1 for each in frequency]
    raise NotKnown(f"model.moe_layer_freq is {frequency!r}, which is not modelled")


def _mtp(facts: Facts, shape: Shape, kinds: Sequence[bool], latent: bool) -> list[Iterable[Tensor]]:
    number = facts.if_any("model.mtp_num_layers") or 0
    if not isinstance(number, int) or number < 0:
        raise NotKnown(f"model.mtp_num_layers is {number!r}")
    return [shape.prediction(kinds[-1], latent) for _ in range(number)]


def _stages(facts: Facts, shape: Shape, kinds: Sequence[bool], latent: bool, pipeline: int) -> list[Iterable[Tensor]]:
    """The tensors of every pipeline stage."""
    numbers = _layers_of_stages(facts, len(kinds), pipeline)
    if pipeline > 1 and len(set(kinds)) > 1 and facts.get("model.virtual_pipeline_model_parallel_size") is not None:
        raise NotKnown("layers of two kinds are interleaved over pipeline stages: not modelled")
    ends = list(accumulate(numbers, initial=0))
    stages: list[list[Iterable[Tensor]]] = [
        [shape.layer(kind, latent) for kind in kinds[start:end]] for start, end in pairwise(ends)
    ]
    predictions = _mtp(facts, shape, kinds, latent)
    stages[0].append(shape.embedding())
    stages[-1] += [shape.output(), *predictions]
    if pipeline > 1 and (predictions or facts.on("model.share_embeddings_and_output_weights")):
        stages[-1].append(shape.word_embedding())
    return [chain(*stage) for stage in stages]


def _layers_of_stages(facts: Facts, layers: int, pipeline: int) -> list[int]:
    """megatron-core 0.16.1, transformer/transformer_block.py:75 (get_num_layers_to_build)."""
    if pipeline == 1:
        return [layers]
    if facts.if_any("model.pipeline_model_parallel_layout") is not None:
        raise NotKnown("model.pipeline_model_parallel_layout is set, which is not modelled")
    first = facts.get("model.num_layers_in_first_pipeline_stage")
    last = facts.get("model.num_layers_in_last_pipeline_stage")
    ends = [each for each in (first, last) if isinstance(each, int)]
    more = int(facts.on("model.account_for_embedding_in_pipeline_split"))
    final = int(facts.on("model.account_for_loss_in_pipeline_split"))
    between = pipeline - len(ends)
    each, rest = divmod(layers - sum(ends) + more + final, between) if between else (0, 0)
    if rest:
        raise NotKnown(f"{layers} layers do not divide among {pipeline} pipeline stages")
    stages = [each] * pipeline
    stages[0] = first if isinstance(first, int) else each - more
    stages[-1] = last if isinstance(last, int) else each - final
    return stages
