"""Numbers of parameters: the weights of a GPT model of Megatron's, tensor by tensor, of the whole model and of the rank
that has most of them.

Weights were read in megatron-core 0.16.1 (models/gpt/gpt_model.py, models/gpt/gpt_layer_specs.py,
transformer/attention.py, transformer/multi_latent_attention.py, transformer/mlp.py, transformer/moe/,
transformer/multi_token_prediction.py) with the layers of Transformer Engine; tests/dryrun/real counts those of models
that are really built. The layers that a model provider builds follow from its class, as far as the snapshot of its
release describes it; they are divided into pipeline stages, and into those with experts and without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.memory.facts import NotModelled, RankGroups, SettingFacts
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import shipped


@dataclass(frozen=True, slots=True)
class GivenParameters:
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


Split = Literal["whole", "tensor", "expert", "expert tensor"]
"""Every rank has all of it, or its part by tensor parallelism; the same of the experts that a rank has."""

Tensor = tuple[int, Split]
"""How many numbers it has, and how it is split."""

UNMODELLED = {
    **dict.fromkeys(("model.experimental_attention_variant", "model.linear_attention_freq"), (None,)),
    **dict.fromkeys(("model.heterogeneous_block_specs", "model.is_hybrid_model"), (False, None)),
    "model.moe_latent_size": (None,),
    **dict.fromkeys(("model.restore_modelopt_state", "model.use_transformer_engine_full_layer_spec"), (False, None)),
    **dict.fromkeys(("model.use_mup", "model.mtp_use_repeated_layer", "model.use_kitchen"), (False, None)),
    "model.enable_hyper_connections": (False, None),
}
"""Settings that change which layers there are, with the values that are understood. A release need not have them."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Parts of a model, with `latent` attention or the usual one. Every method raises NotModelled."""

    facts: SettingFacts
    latent: bool

    @property
    def hidden(self) -> int:
        return self.facts.size("model.hidden_size")

    def embedding(self) -> Iterator[Tensor]:
        yield self.vocabulary() * self.hidden, "tensor"
        kind = self.facts.get("model.position_embedding_type")
        if kind == "learned_absolute":
            yield self.facts.size("model.seq_length") * self.hidden, "whole"
        elif kind not in ("rope", "yarn", "mrope", "none"):
            raise NotModelled(f"model.position_embedding_type is {kind!r}, which is not modelled")

    def output(self) -> Iterator[Tensor]:
        """Yield the final norm and the output layer, which may be the embedding again."""
        yield self.norm(self.hidden), "whole"
        if not self.facts.on("model.share_embeddings_and_output_weights"):
            yield self.vocabulary() * self.hidden, "tensor"

    def vocabulary(self) -> int:
        """Count the words, with the padding."""
        if self.facts.get("model.vocab_size") is None:
            raise NotModelled("model.vocab_size is None: the tokenizer says it")
        words = self.facts.size("model.vocab_size")
        if not self.facts.on("model.should_pad_vocab"):
            return words
        multiple = self.facts.size("model.make_vocab_size_divisible_by")
        multiple *= self.facts.size("model.tensor_model_parallel_size")
        return -(-words // multiple) * multiple

    def layer(self, experts: bool) -> Iterator[Tensor]:
        """Yield the tensors of a transformer layer, with `experts` or a plain MLP."""
        yield self.norm(self.hidden), "whole"
        yield from self._latent_attention() if self.latent else self._attention()
        yield self.norm(self.hidden), "whole"
        if experts:
            yield from self._experts()
            return
        width, gates = self.feed_forward(), 2 if self.facts.on("model.gated_linear_unit") else 1
        yield (gates + 1) * width * self.hidden, "tensor"
        if self.facts.on("model.add_bias_linear"):
            yield gates * width, "tensor"
            yield self.hidden, "whole"

    def prediction(self) -> Iterator[Tensor]:
        """Yield the tensors of one more predicted token, beside its layer: two input norms, a projection, a norm."""
        yield 3 * self.norm(self.hidden), "whole"
        yield 2 * self.hidden * self.hidden, "tensor"

    def norm(self, width: int) -> int:
        kind = self.facts.get("model.normalization")
        if kind not in ("LayerNorm", "RMSNorm"):
            raise NotModelled(f"model.normalization is {kind!r}, which is not modelled")
        return width if kind == "RMSNorm" else 2 * width

    def feed_forward(self) -> int:
        return self.facts.size("model.ffn_hidden_size", 4 * self.hidden)

    def _attention(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        heads = facts.size("model.num_attention_heads")
        channels = facts.size("model.kv_channels", hidden // heads)
        groups = facts.size("model.num_query_groups", heads)
        if groups < facts.size("model.tensor_model_parallel_size"):
            raise NotModelled("fewer query groups than tensor parallel ranks: not modelled")
        query = heads * channels
        gate = query if facts.if_any("model.attention_output_gate") else 0
        joined = query + gate + 2 * groups * channels
        yield joined * hidden, "tensor"
        if facts.on("model.add_bias_linear") or facts.on("model.add_qkv_bias"):
            yield joined, "tensor"
        yield query * hidden, "tensor"
        if facts.on("model.add_bias_linear"):
            yield hidden, "whole"
        if facts.on("model.qk_layernorm") and not facts.if_any("model.qk_l2_norm"):
            yield 2 * self.norm(channels), "whole"
        softmax = facts.if_any("model.softmax_type")
        if softmax == "learnable":
            yield heads, "tensor"
        elif softmax not in (None, "vanilla", "off-by-one"):
            raise NotModelled(f"model.softmax_type is {softmax!r}, which is not modelled")

    def _latent_attention(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        heads = facts.size("model.num_attention_heads")
        rank, position = facts.size("model.kv_lora_rank"), facts.number("model.qk_pos_emb_head_dim")
        plain, value = facts.size("model.qk_head_dim"), facts.size("model.v_head_dim")
        norms = facts.on("model.qk_layernorm")
        if facts.get("model.q_lora_rank") is None:
            yield hidden * heads * (plain + position), "tensor"
        else:
            down = facts.size("model.q_lora_rank")
            yield hidden * down, "whole"
            yield down * heads * (plain + position), "tensor"
            yield self.norm(down) if norms else 0, "whole"
        yield hidden * (rank + position), "whole"
        yield rank * heads * (plain + value), "tensor"
        yield self.norm(rank) if norms else 0, "whole"
        yield heads * value * hidden, "tensor"
        if facts.on("model.add_bias_linear"):
            yield hidden, "whole"

    def _experts(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        experts = facts.size("model.num_moe_experts")
        gates = 2 if facts.on("model.gated_linear_unit") else 1
        width = facts.size("model.moe_ffn_hidden_size", self.feed_forward())
        biased = facts.on("model.add_bias_linear")
        yield experts * hidden + (experts if biased else 0), "whole"  # the router
        yield experts * (gates + 1) * width * hidden, "expert tensor"
        if biased:
            yield experts * gates * width, "expert tensor"
            yield experts * hidden, "expert"
        if (shared := facts.get("model.moe_shared_expert_intermediate_size")) is not None:
            if biased:
                raise NotModelled("model.add_bias_linear is on, which shared experts do not have")
            shared = facts.size("model.moe_shared_expert_intermediate_size")
            yield (gates + 1) * shared * hidden, "tensor"
            if facts.if_any("model.moe_shared_expert_gate"):
                yield hidden, "whole"


_MOST_LAYERS = 10_000
"""More than any model has; counting more would take too long."""


def _stages(shape: ModelShape, kinds: Sequence[bool], pipeline: int) -> list[list[Tensor]]:
    """Return the tensors of every stage of a pipeline, those of equal layers as one; `kinds` tells which layers have
    experts. Raises NotModelled.
    """
    facts = shape.facts
    if pipeline > 1 and len(set(kinds)) > 1 and facts.get("model.virtual_pipeline_model_parallel_size") is not None:
        raise NotModelled("layers of two kinds are interleaved over pipeline stages: not modelled")
    predictions = facts.number("model.mtp_num_layers") if facts.if_any("model.mtp_num_layers") is not None else 0
    tied = facts.on("model.share_embeddings_and_output_weights")
    numbers = _layers_of_stages(facts, len(kinds), pipeline)
    stages = []
    for number, (start, end) in enumerate(pairwise(accumulate(numbers, initial=0))):
        last = number == pipeline - 1
        layers = Counter(kinds[start:end])
        layers[kinds[-1]] += predictions if last else 0
        several = [(times, shape.layer(experts)) for experts, times in sorted(layers.items()) if times]
        if last and predictions:
            several.append((predictions, shape.prediction()))
        if number == 0:
            several.append((1, shape.embedding()))
        if last:
            several.append((1, shape.output()))
        if last and pipeline > 1 and (tied or predictions):
            # A copy of the embedding, which the output layer, or another prediction, needs.
            several.append((1, iter([(shape.vocabulary() * shape.hidden, "tensor")])))
        stages.append([(times * numbers, split) for times, tensors in several for numbers, split in tensors])
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
    """Count the layers of each stage (megatron-core 0.16.1, transformer_block.py:75, get_num_layers_to_build)."""
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
    # The function that builds the layers is the recipe's, if it names one, else that of the class.
    layers, setting = None, settings.get(f"model.{_SPEC}")
    if setting is not None and isinstance(setting.value, Known):
        layers = str(setting.value.value).removeprefix("<function ").removesuffix(">")
    elif setting is not None and setting.origin is not None and setting.origin.how == "default":
        fields = (field for _, described in classes for field in described.get("fields", ()))
        layers = next((_function(node) for field, node, *_ in fields if field == _SPEC), None)
    if layers in ONE_LAYER or layers in BLOCK:
        return layers in BLOCK
    raise NotModelled(f"the layers of {name} are not modelled ({layers or f'model.{_SPEC} is its own'})")


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
    match snapshot.entry(module, last):
        case ["from", elsewhere, again]:
            yield from _classes(snapshot, f"{elsewhere}.{again}")
        case ["class", described]:
            yield name, described
            for base in described.get("bases", ()):
                if inherited := _function(base):
                    yield from _classes(snapshot, inherited)


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
    shape, kinds = ModelShape(facts, latent), _kinds(facts, by_layer)
    total = sum(numbers for numbers, _ in _stages(shape, kinds, 1)[0])
    held = [_held(stage, layout) for stage in _stages(shape, kinds, layout.pipeline)]
    fullest = max(range(len(held)), key=lambda stage: sum(held[stage]))
    told = [f"{total:,} parameters, by the model's settings"]
    rank, experts = sum(held[fullest]), held[fullest][1]
    if rank != total:
        splits = {"TP": layout.tensor, "PP": layout.pipeline}
        if experts:
            splits |= {"EP": layout.expert, "ETP": layout.expert_tensor}
        split = " × ".join(f"{name} {size}" for name, size in splits.items() if size > 1)
        of = f" of pipeline stage {fullest + 1} of {layout.pipeline}, the fullest" if layout.pipeline > 1 else ""
        told.append(f"{rank:,} on a rank{of}{f', {experts:,} of them in experts' if experts else ''} ({split})")
    return Count(total, *held[fullest], tuple(told))


def _held(stage: Sequence[Tensor], layout: RankGroups) -> tuple[int, int]:
    """Count dense and expert parameters of a stage on one rank."""
    sums: Counter[Split] = Counter()
    for numbers, split in stage:
        sums[split] += numbers
    experts = -(-sums["expert"] // layout.expert) + -(-sums["expert tensor"] // (layout.expert * layout.expert_tensor))
    return sums["whole"] + -(-sums["tensor"] // layout.tensor), experts
