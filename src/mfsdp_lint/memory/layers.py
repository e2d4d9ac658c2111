"""Weights of the parts of a model, tensor by tensor.

They were read in megatron-core 0.16.1 (models/gpt/gpt_model.py, models/gpt/gpt_layer_specs.py,
transformer/attention.py, transformer/multi_latent_attention.py, transformer/mlp.py, transformer/moe/,
transformer/multi_token_prediction.py, ssm/gated_delta_net.py, ssm/mamba_mixer.py) with the layers of Transformer
Engine; tests/dryrun/real counts those of models that are really built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.layers import Layers
from mfsdp_lint.megatron.published import published
from mfsdp_lint.megatron.versions import parse_range
from mfsdp_lint.memory.facts import NotModelled, SettingFacts

Split = Literal["whole", "tensor", "expert", "expert tensor"]
"""Every rank has all of it, or its part by tensor parallelism; the same of the experts that a rank has."""

Tensor = tuple[int, Split]
"""How many numbers it has, and how it is split."""

Part = Literal["attention", "latent", "sparse", "delta", "mamba", "mlp", "experts"]

Layer = tuple[Part, ...]
"""The parts of a layer, each with a norm before it: of a transformer's two, of a hybrid model's one."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Tensors of the parts of a model. `layers` is its kind of layers, None of a hybrid model. `pads`: its vocabulary
    is padded as settings say. Methods raise NotModelled.
    """

    facts: SettingFacts
    layers: Layers | None
    core: str
    pads: bool = True

    @property
    def hidden(self) -> int:
        return self.facts.size("model.hidden_size")

    def embedding(self) -> Iterator[Tensor]:
        yield self.vocabulary() * self.hidden, "tensor"
        kinds = set(self.facts.one_of("model.position_embedding_type"))
        if kinds == {"learned_absolute"}:
            yield self.facts.size("model.seq_length") * self.hidden, "whole"
        elif not kinds <= {"rope", "yarn", "mrope", "none"}:
            kind = " or ".join(sorted(map(repr, kinds)))
            raise NotModelled(f"model.position_embedding_type is {kind}, which is not modelled")

    def output(self) -> Iterator[Tensor]:
        """Yield the final norm and the output layer, which may be the embedding again."""
        yield self.norm(self.hidden), "whole"
        if not self.facts.on("model.share_embeddings_and_output_weights"):
            yield self.vocabulary() * self.hidden, "tensor"

    def vocabulary(self) -> int:
        """Count the words, with the padding."""
        facts = self.facts
        if facts.get("model.vocab_size") is None:
            words, padded = self._words_of_the_tokenizer(), True
        else:
            words, padded = facts.size("model.vocab_size"), self.pads and facts.on("model.should_pad_vocab")
        if not padded:
            return words
        multiple = facts.size("model.make_vocab_size_divisible_by")
        multiple *= facts.size("model.tensor_model_parallel_size")
        return -(-words // multiple) * multiple

    def _words_of_the_tokenizer(self) -> int:
        """Count the words of the tokenizer: start-up gives them to a model without a vocabulary, and pads it
        (Megatron-Bridge 0.3.1, training/setup.py, `_validate_and_set_vocab_size`). They are known of one that only
        counts; those of a published model's tokenizer are taken for the words that the model has.
        """
        if self.facts.if_any("tokenizer.tokenizer_type") == "NullTokenizer":
            return self.facts.size("tokenizer.vocab_size")
        words = self.published_words()
        if words is None:
            raise NotModelled("model.vocab_size is None: the tokenizer says it")
        return words

    def published_words(self) -> int | None:
        """Return the words of the published model whose tokenizer decides the vocabulary; None if none does."""
        facts = self.facts
        if facts.get("model.vocab_size") is not None or facts.if_any("tokenizer.tokenizer_type") == "NullTokenizer":
            return None
        known = published().get(str(facts.known("tokenizer.tokenizer_model")))
        words = None if known is None else known.sizes.get("vocab_size")
        return words if isinstance(words, int) else None

    def layer(self, parts: Layer) -> Iterator[Tensor]:
        """Yield the tensors of a layer."""
        for part in parts:
            yield self.norm(self.hidden), "whole"
            yield from _PARTS[part](self)
            if self.layers in ("gemma 2", "gemma 3"):
                yield self.norm(self.hidden), "whole"

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

    def mlp(self) -> Iterator[Tensor]:
        width, gates = self.feed_forward(), 2 if self.facts.on("model.gated_linear_unit") else 1
        yield (gates + 1) * width * self.hidden, "tensor"
        if self.facts.on("model.add_bias_linear"):
            yield gates * width, "tensor"
            yield self.hidden, "whole"

    def attention(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        heads = facts.size("model.num_attention_heads")
        channels = facts.size("model.kv_channels", hidden // heads)
        groups = facts.size("model.num_query_groups", heads)
        query = heads * channels
        gate = query if facts.if_any("model.attention_output_gate") else 0
        joined = query + gate + 2 * groups * channels
        yield joined * hidden, "tensor"
        if facts.on("model.add_bias_linear") or facts.on("model.add_qkv_bias"):
            yield joined, "tensor"
        yield query * hidden, "tensor"
        if facts.on("model.add_bias_linear"):
            yield hidden, "whole"
        yield from self._norms_of_queries_and_keys(query, channels)
        softmax = facts.if_any("model.softmax_type")
        if softmax == "learnable":
            yield heads, "tensor"
        elif softmax not in (None, "vanilla", "off-by-one"):
            raise NotModelled(f"model.softmax_type is {softmax!r}, which is not modelled")

    def _norms_of_queries_and_keys(self, query: int, channels: int) -> Iterator[Tensor]:
        if self.layers is None or self.layers == "gemma 2":
            return
        if self.layers == "olmoe":
            yield 2 * self.norm(query), "whole"
        elif self.layers == "gemma 3":
            # The published weights have them; where a setting decides, it is on by default.
            without = self.core in _GEMMA_ASKS and self.facts.known("model.qk_layernorm") is False
            yield 0 if without else 2 * self.norm(channels), "whole"
        elif self.facts.on("model.qk_layernorm") and not self.facts.if_any("model.qk_l2_norm"):
            yield 2 * self.norm(channels), "whole"

    def latent_attention(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        heads = facts.size("model.num_attention_heads")
        rank, position = facts.size("model.kv_lora_rank"), facts.number("model.qk_pos_emb_head_dim")
        plain, value = facts.size("model.qk_head_dim"), facts.size("model.v_head_dim")
        norms = facts.on("model.qk_layernorm")
        if facts.get("model.q_lora_rank") is None:
            yield hidden * heads * (plain + position), "tensor"
            yield self.norm(hidden) if norms and self.core in _NORMS_UNPROJECTED else 0, "whole"
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

    def sparse_attention(self) -> Iterator[Tensor]:
        """Yield the tensors of latent attention with an indexer, which every rank has whole (megatron-core 0.16.1 to
        0.19.0, transformer/experimental_attention_variant/dsa.py, `DSAIndexer`).
        """
        yield from self.latent_attention()
        facts, hidden = self.facts, self.hidden
        heads, wide = facts.size("model.dsa_indexer_n_heads"), facts.size("model.dsa_indexer_head_dim")
        down = hidden if facts.get("model.q_lora_rank") is None else facts.size("model.q_lora_rank")
        yield down * heads * wide + hidden * (wide + heads), "whole"
        yield 2 * wide, "whole"  # a LayerNorm

    def delta_net(self) -> Iterator[Tensor]:
        """Yield the tensors of a gated delta net (ssm/gated_delta_net.py:107-200)."""
        facts, hidden = self.facts, self.hidden
        heads, wide = facts.size("model.linear_num_value_heads"), facts.size("model.linear_value_head_dim")
        keys = facts.size("model.linear_num_key_heads") * facts.size("model.linear_key_head_dim")
        values = heads * wide
        yield (2 * keys + 2 * values + 2 * heads) * hidden, "tensor"
        yield (2 * keys + values) * facts.size("model.linear_conv_kernel_dim"), "tensor"
        yield 2 * heads, "tensor"  # of the steps of time, and of what is kept
        yield self.norm(wide), "whole"
        yield values * hidden, "tensor"

    def mamba(self) -> Iterator[Tensor]:
        """Yield the tensors of a Mamba 2 mixer (ssm/mamba_mixer.py:198-372)."""
        facts, hidden = self.facts, self.hidden
        wide, states = facts.size("model.mamba_head_dim"), facts.size("model.mamba_state_dim")
        groups = facts.size("model.mamba_num_groups")
        heads = facts.size("model.mamba_num_heads", 2 * hidden // wide)
        inner = heads * wide
        yield (2 * inner + 2 * groups * states + heads) * hidden, "tensor"
        yield (inner + 2 * groups * states) * (_CONVOLUTION + 1), "tensor"  # with its bias
        yield 3 * heads, "tensor"  # of the steps of time, of what is kept, and of what is passed on
        yield inner, "tensor"  # the norm
        yield inner * hidden, "tensor"

    def experts(self) -> Iterator[Tensor]:
        facts, hidden = self.facts, self.hidden
        experts = facts.size("model.num_moe_experts")
        gates = 2 if facts.on("model.gated_linear_unit") else 1
        own = facts.get("model.moe_ffn_hidden_size") is not None
        width = facts.size("model.moe_ffn_hidden_size") if own else self.feed_forward()
        biased = facts.on("model.add_bias_linear")
        yield experts * hidden + (experts if biased else 0), "whole"  # the router
        latent = hidden
        if facts.if_any("model.moe_latent_size") is not None:
            # Every rank has the projections whole (transformer/moe/moe_layer.py:170-190).
            latent = facts.size("model.moe_latent_size")
            if biased:
                raise NotModelled("model.add_bias_linear is on with latent experts, which is not modelled")
            yield 2 * hidden * latent, "whole"
        yield experts * (gates + 1) * width * latent, "expert tensor"
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


_GEMMA_ASKS = parse_range(">=0.18")
"""Cores of the releases in which a setting decides about Gemma 3's norms of queries and keys (Megatron-Bridge 0.5.0,
models/gemma/gemma3_provider.py:154)."""

_NORMS_UNPROJECTED = parse_range(">=0.19")
"""Cores in which the norm of queries that are not projected down stands before their projection
(transformer/mla_qk_norm_config.py:147)."""

_CONVOLUTION = 4
"""Steps of time that a Mamba layer's convolution sees (ssm/mamba_mixer.py:170, `d_conv`)."""

_PARTS = {
    "attention": ModelShape.attention,
    "latent": ModelShape.latent_attention,
    "sparse": ModelShape.sparse_attention,
    "delta": ModelShape.delta_net,
    "mamba": ModelShape.mamba,
    "mlp": ModelShape.mlp,
    "experts": ModelShape.experts,
}


WAN_LAYER: Layer = ("attention", "attention", "mlp")
"""Attention to the pictures, attention to the text, an MLP."""


@dataclass(frozen=True, slots=True)
class WanShape(ModelShape):
    """Tensors of the parts of the diffusion model Wan. Methods raise NotModelled.

    They were read in Megatron-Bridge 0.6.0 (diffusion/models/wan/wan_model.py and wan_layer_spec.py,
    diffusion/models/common/dit_attention.py and dit_embeddings.py).
    """

    def layer(self, parts: Layer) -> Iterator[Tensor]:
        """Yield the tensors of a layer: of norms the one before the second attention has weights."""
        facts, hidden = self.facts, self.hidden
        if not facts.on("model.add_bias_linear"):
            raise NotModelled("model.add_bias_linear is off, which is not modelled for Wan")
        heads = facts.size("model.num_attention_heads")
        channels = facts.size("model.kv_channels", hidden // heads)
        query, keys = heads * channels, facts.size("model.num_query_groups", heads) * channels
        normed = query + keys if facts.on("model.layernorm_across_heads") else 2 * channels
        for source in (hidden, facts.size("model.crossattn_emb_size")):
            yield query * (hidden + 1) + 2 * keys * (source + 1) + query * hidden, "tensor"
            yield hidden + normed, "whole"
        yield from self.mlp()
        yield (6 + 2) * hidden, "whole"  # what the step of time shifts and scales; the norm

    def embedding(self) -> Iterator[Tensor]:
        """Yield what pictures, texts and steps of time are embedded by."""
        facts, hidden, text = self.facts, self.hidden, self.facts.size("model.crossattn_emb_size")
        yield hidden * (facts.size("model.in_channels") * self._patch() + 1), "whole"
        yield text * (facts.size("model.text_dim") + 1) + text * (text + 1), "whole"
        yield hidden * (facts.size("model.freq_dim") + 1) + hidden * (hidden + 1), "whole"
        yield 6 * hidden * (hidden + 1), "whole"

    def output(self) -> Iterator[Tensor]:
        """Yield the tensors of the head."""
        yield (self.hidden + 1) * self._patch() * self.facts.size("model.out_channels") + 2 * self.hidden, "whole"

    def _patch(self) -> int:
        return self.facts.size("model.patch_temporal") * self.facts.size("model.patch_spatial") ** 2
