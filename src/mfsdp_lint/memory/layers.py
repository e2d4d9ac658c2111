"""The weights of a GPT model of Megatron's, tensor by tensor, from its settings.

Read in megatron-core 0.16.1 (models/gpt/gpt_model.py, models/gpt/gpt_layer_specs.py, transformer/attention.py,
transformer/multi_latent_attention.py, transformer/mlp.py, transformer/moe/, transformer/multi_token_prediction.py) with
the layers of Transformer Engine; tests/dryrun/real counts those of models that are really built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import Facts, NotKnown

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
class Shape:
    """Parts of a model, with `latent` attention or the usual one. Every method raises NotKnown."""

    facts: Facts
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
            raise NotKnown(f"model.position_embedding_type is {kind!r}, which is not modelled")

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
            raise NotKnown("model.vocab_size is None: the tokenizer says it")
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
            raise NotKnown(f"model.normalization is {kind!r}, which is not modelled")
        return width if kind == "RMSNorm" else 2 * width

    def feed_forward(self) -> int:
        return self.facts.size("model.ffn_hidden_size", 4 * self.hidden)

    def _attention(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        heads = facts.size("model.num_attention_heads")
        channels = facts.size("model.kv_channels", hidden // heads)
        groups = facts.size("model.num_query_groups", heads)
        if groups < facts.size("model.tensor_model_parallel_size"):
            raise NotKnown("fewer query groups than tensor parallel ranks: not modelled")
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
            raise NotKnown(f"model.softmax_type is {softmax!r}, which is not modelled")

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
                raise NotKnown("model.add_bias_linear is on, which shared experts do not have")
            shared = facts.size("model.moe_shared_expert_intermediate_size")
            yield (gates + 1) * shared * hidden, "tensor"
            if facts.if_any("model.moe_shared_expert_gate"):
                yield hidden, "whole"
