"""Settings as formulas need them: known values, or the reason why there are none; groups of ranks; and the weights of a
GPT model of Megatron's, tensor by tensor.

Groups: megatron-core 0.16.1, core/parallel_state.py:738-743 (sizes) and 787-791 (experts). The groups that shard have
the ranks of context parallelism in them (`with_context_parallel=True`). Weights were read in megatron-core 0.16.1
(models/gpt/gpt_model.py, models/gpt/gpt_layer_specs.py, transformer/attention.py,
transformer/multi_latent_attention.py, transformer/mlp.py, transformer/moe/, transformer/multi_token_prediction.py) with
the layers of Transformer Engine; tests/dryrun/real counts those of models that are really built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, OneOf, Plain, Unknown, describe


class NotModelled(Exception):
    """The error for a result that depends on an unknown value; the text names it."""


class SettingFacts:
    """The settings of one path through a recipe. Every method raises NotModelled for what has no single known value."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get(self, path: str) -> Plain:
        """Return the value of a setting. Raises NotModelled."""
        value = self._settings.value(path)
        if isinstance(value, Known):
            return value.value
        if isinstance(value, Unknown):
            raise NotModelled(f"{path} is not known")
        raise NotModelled(
            f"{path} is {describe(value)}" + ("" if isinstance(value, OneOf) else " to what is not known")
        )

    def has(self, path: str) -> bool:
        """Tell whether anything is known of a setting: a release may not have it."""
        return path in self._settings

    def if_any(self, path: str) -> Plain:
        """Return the value of a setting that not every release has; None if it is not there."""
        return self.get(path) if self.has(path) else None

    def on(self, path: str) -> bool:
        """Tell whether a switch is on."""
        return bool(self.get(path))

    def number(self, path: str) -> int:
        """Return a whole number that is not negative."""
        value = self.get(path)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise NotModelled(f"{path} is {value!r}, which is no number of anything")
        return value

    def size(self, path: str, default: int | None = None) -> int:
        """Return a number of at least one; `default` replaces None, if it is given."""
        if default is not None and self.get(path) is None:
            return default
        value = self.number(path)
        if not value:
            raise NotModelled(f"{path} is 0")
        return value


@dataclass(frozen=True, slots=True)
class RankGroups:
    """The parallel sizes of a run. `expert_tensor` is what an expert's weights are split by."""

    tensor: int
    pipeline: int
    context: int
    expert: int
    expert_tensor: int

    def shards(self, ranks: int) -> int:
        """Count the ranks that have the same part of the dense weights. Raises NotModelled if they divide unevenly."""
        part = self.tensor * self.pipeline
        if ranks % (part * self.context):
            raise NotModelled(f"{ranks} ranks do not divide by TP × PP × CP = {part * self.context}")
        return ranks // part

    def expert_shards(self, ranks: int) -> int:
        """Count the ranks that have the same experts. Raises NotModelled if the ranks do not divide evenly."""
        part = self.expert_tensor * self.expert * self.pipeline
        if ranks % part:
            raise NotModelled(f"{ranks} ranks do not divide by ETP × EP × PP = {part}")
        return ranks // part


def layout_of(facts: SettingFacts) -> RankGroups:
    """Read the sizes from settings. Raises NotModelled."""
    tensor = facts.size("model.tensor_model_parallel_size")
    return RankGroups(
        tensor=tensor,
        pipeline=facts.size("model.pipeline_model_parallel_size"),
        context=facts.size("model.context_parallel_size"),
        expert=facts.size("model.expert_model_parallel_size", 1),
        expert_tensor=facts.size("model.expert_tensor_parallel_size", tensor),
    )


Split = Literal["whole", "tensor", "expert", "expert tensor"]
"""Every rank has all of it, or its part by tensor parallelism; the same of the experts that a rank has."""

Tensor = tuple[int, Split]
"""How many numbers it has, and how it is split."""

UNMODELLED = {
    "model.experimental_attention_variant": (None,),
    "model.linear_attention_freq": (None,),
    "model.heterogeneous_block_specs": (False, None),
    "model.is_hybrid_model": (False, None),
    "model.moe_latent_size": (None,),
    "model.restore_modelopt_state": (False, None),
    "model.use_transformer_engine_full_layer_spec": (False, None),
    "model.use_mup": (False, None),
    "model.mtp_use_repeated_layer": (False, None),
    "model.use_kitchen": (False, None),
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

    def word_embedding(self) -> Iterator[Tensor]:
        """Yield the last stage's copy of the embedding, which the output layer, or another prediction, needs."""
        yield self.vocabulary() * self.hidden, "tensor"

    def vocabulary(self) -> int:
        """Count the words, with the padding."""
        words = self.facts.get("model.vocab_size")
        if words is None:
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
        yield from self._experts() if experts else self._mlp(self.feed_forward(), self.hidden)

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

    def _mlp(self, width: int, hidden: int) -> Iterator[Tensor]:
        gates = 2 if self.facts.on("model.gated_linear_unit") else 1
        yield gates * width * hidden + width * hidden, "tensor"
        if self.facts.on("model.add_bias_linear"):
            yield gates * width, "tensor"
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
