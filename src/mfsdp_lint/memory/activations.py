"""Bytes of activations on the first pipeline stage, by the formula that Megatron prints itself, and what it leaves out.

The formula is that of megatron-core 0.16.1, megatron/training/theoretical_memory_usage.py:220-340 (the same in head):
with sequence parallelism the table of https://arxiv.org/pdf/2205.05198.pdf, else an estimate for MLPs of four times
the hidden size, with five per cent for what is not told. It knows neither experts nor latent attention, neither full
recomputation nor context parallelism. Where a recipe has one of these, the parts of the same table are added up as
they are: see `_Layer`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import NotModelled, RankGroups, SettingFacts
from mfsdp_lint.memory.layers import Layer, ModelShape

_OVERHEAD = 1.05
"""Of the estimate without sequence parallelism (theoretical_memory_usage.py:332)."""


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes on the rank that has most of them, and how they were worked out."""

    bytes: int
    formula: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """Bytes of a token in a layer, as the table of the paper has them, before tensor parallelism divides some.

    `whole` are the inputs of norms, attention and MLP, and the masks of dropout: 10 for each of the hidden size.
    `attention` are queries, keys, values and their product: 8 for each. `mlp` is 4 for each of the width: the input
    and the output of the activation. `kept` is the layer's own input, which full recomputation starts from.
    """

    whole: float
    attention: float
    mlp: float
    kept: float


@dataclass(frozen=True, slots=True)
class _ActivationSettings:
    """A run's settings that decide about activations."""

    facts: SettingFacts
    shape: ModelShape
    layout: RankGroups
    sequence_parallel: bool
    granularity: str
    modules: frozenset[str]
    is_extended: bool
    """Full recomputation, experts or latent attention: what Megatron has no formula for."""

    @property
    def by_the_table(self) -> bool:
        """Tell whether the paper's table holds.

        Megatron's own function takes it with selective recomputation alone (theoretical_memory_usage.py:353). Fused
        attention keeps as little without recomputation; else the estimate of what tensor parallel ranks do not share
        would be several times too high.
        """
        return self.sequence_parallel and self.granularity != "full"

    def layer(self, layer: Layer) -> _Layer:
        """Return the bytes of a token in a layer. Raises NotModelled."""
        hidden = self.shape.hidden
        whole, attention = 10.0 * hidden, 8.0 * hidden
        if "latent" in layer:
            attention = self._latent()
        elif layer[0] != "attention" or self.shape.layers == "wan":
            raise NotModelled("activations of layers without usual attention: Megatron has no formula for them")
        if "layernorm" in self.modules:
            whole -= 4 * hidden  # the outputs of both norms
        wide = self.shape.feed_forward()
        if "experts" in layer:
            mlp = self._experts(hidden)
        elif "mlp" in self.modules:
            mlp = 0.0
        elif self.by_the_table or self.is_extended:
            mlp = 4.0 * wide
        else:
            mlp = 16.0 * hidden  # as Megatron's own estimate has it, whatever the width
        return _Layer(whole, attention, mlp, 2.0 * hidden)

    def _latent(self) -> float:
        """Return bytes of queries, keys, values and their product in latent attention, and of what is projected."""
        facts = self.facts
        heads, value = facts.size("model.num_attention_heads"), facts.size("model.v_head_dim")
        position = facts.number("model.qk_pos_emb_head_dim")
        down = 0 if facts.get("model.q_lora_rank") is None else facts.size("model.q_lora_rank")
        projected = 2.0 * (down + facts.size("model.kv_lora_rank") + position)
        up = 4.0 * heads * (facts.size("model.qk_head_dim") + position) + 2.0 * heads * value
        return projected + (0 if "mla_up_proj" in self.modules else up) + 2.0 * heads * value

    def _experts(self, hidden: int) -> float:
        """Return bytes of experts: each token goes to several, as if tokens were spread evenly over all."""
        facts = self.facts
        if "moe" in self.modules:
            return 0.0
        width = facts.size("model.moe_ffn_hidden_size", self.shape.feed_forward())
        inner = 2.0 if "moe_act" in self.modules else 4.0
        if facts.if_any("model.moe_latent_size") is not None:
            raise NotModelled("activations of latent experts: Megatron has no formula for them")
        routed = facts.size("model.moe_router_topk") * (inner * width + 2.0 * hidden * self.layout.expert_tensor)
        shared = facts.get("model.moe_shared_expert_intermediate_size")
        if shared is None or "shared_experts" in self.modules:
            return routed
        return routed + 4.0 * facts.size("model.moe_shared_expert_intermediate_size")

    def on_rank(self, each: _Layer) -> float:
        """Return bytes of a token in a layer on one rank."""
        split = (each.attention + each.mlp) / self.layout.tensor
        return split + each.whole / (self.layout.tensor if self.sequence_parallel else 1)

    def kept_on_rank(self, each: _Layer) -> float:
        split = self.sequence_parallel or self.facts.if_any("model.distribute_saved_activations")
        return each.kept / (self.layout.tensor if split else 1)


def activations(
    facts: SettingFacts, shape: ModelShape, layers: Sequence[Layer], layout: RankGroups, ranks: int | None
) -> Activations:
    """Estimate the bytes of activations. Raises NotModelled, also where a setting that it needs is unknown."""
    granularity = facts.get("model.recompute_granularity")
    modules = facts.if_any("model.recompute_modules") if granularity == "selective" else None
    run = _ActivationSettings(
        facts,
        shape,
        layout,
        facts.on("model.sequence_parallel"),
        str(granularity or "none"),
        frozenset(map(str, modules)) if isinstance(modules, list) else frozenset(),
        granularity == "full" or any(part in ("latent", "experts") for layer in layers for part in layer),
    )
    batch = facts.size("train.micro_batch_size")
    length = facts.size("model.seq_length")
    if length % layout.context:
        raise NotModelled(f"{length} tokens do not divide among {layout.context} context parallel ranks")
    tokens = length // layout.context * batch
    each = [run.on_rank(run.layer(layer)) for layer in layers]
    held, working, how = _held(run, layers, each)
    held *= tokens
    pipeline, hidden = layout.pipeline, shape.hidden
    ends = (8 + hidden) * tokens * pipeline
    held += ends / layout.tensor if run.by_the_table else ends
    held *= _in_flight(facts, layout, ranks)
    if pipeline == 1:
        words = shape.vocabulary()
        if run.by_the_table:
            held += tokens * 4 * (hidden + words) / layout.tensor
        else:
            held += 2 * tokens * (words / layout.tensor + hidden)
    if not run.by_the_table:
        held *= _OVERHEAD
    held += working * tokens
    said = f"{tokens:,} tokens × {how}"
    if pipeline > 1:
        said += f", {_in_flight(facts, layout, ranks):.2f} of all layers at once (PP {pipeline})"
    return Activations(round(held), said)


def _held(run: _ActivationSettings, layers: Sequence[Layer], each: list[float]) -> tuple[float, float, str]:
    """Return the bytes of a token that all layers keep for the backward pass, and those at work besides; in words."""
    facts, number = run.facts, len(layers)
    offloaded = 0
    if facts.if_any("model.cpu_offloading") and facts.if_any("model.cpu_offloading_activations"):
        offloaded = min(facts.number("model.cpu_offloading_num_layers"), number)
    if run.granularity != "full":
        kept = sum(each[: number - offloaded])
        told = f"{kept / max(number - offloaded, 1):,.0f} B × {number - offloaded} layers"
        return kept, 0.0, told + (f" ({offloaded} more are offloaded)" if offloaded else "")
    inputs = [run.kept_on_rank(run.layer(layer)) for layer in layers]
    # The layer at work has its activations, and gradients of one of its MLP's two.
    working = max(each) + max(run.layer(layer).mlp for layer in layers) / 2 / run.layout.tensor
    method, chunk = facts.get("model.recompute_method"), facts.size("model.recompute_num_layers", 1)
    # A stage has its part of the layers; Megatron's formula counts them all, and the pipeline's share afterwards.
    own = -(-number // run.layout.pipeline)
    chunk = min(chunk, own)
    if method == "uniform":
        kept = sum(inputs) / chunk
        told = f"{kept / number:,.0f} B × {number} layers, recomputed {chunk} at once"
        return kept, (chunk - 1) * max(each) + working, told
    if method == "block":
        part = chunk / own
        kept = part * sum(inputs) + (1 - part) * sum(each)
        # The first ones are recomputed, when the others' activations are gone.
        told = f"{kept / number:,.0f} B × {number} layers, {part:.0%} of them recomputed"
        return kept, working if chunk == own else 0.0, told
    raise NotModelled(f"model.recompute_method is {method!r}, which is not modelled")


def _in_flight(facts: SettingFacts, layout: RankGroups, ranks: int | None) -> float:
    """Return how many micro-batches a stage keeps, divided by the stages (theoretical_memory_usage.py:246-275)."""
    pipeline = layout.pipeline
    pieces = facts.get("model.virtual_pipeline_model_parallel_size")
    if isinstance(pieces, int):
        return 1 + (pipeline - 1) / (pipeline * pieces)
    if pipeline == 1:
        return 1.0
    if ranks is None:
        raise NotModelled("the number of ranks is not known (--world-size)")
    replicas = ranks // (layout.tensor * layout.pipeline * layout.context)
    micro = facts.size("train.global_batch_size") / max(facts.size("train.micro_batch_size") * replicas, 1)
    return min(1.0, math.ceil(micro) / pipeline)
