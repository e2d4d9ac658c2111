"""Weights of the diffusion model Wan, tensor by tensor.

They were read in Megatron-Bridge 0.6.0 (diffusion/models/wan/wan_model.py and wan_layer_spec.py,
diffusion/models/common/dit_attention.py and dit_embeddings.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import NotModelled
from mfsdp_lint.memory.layers import Layer, ModelShape, Tensor

WAN_LAYER: Layer = ("attention", "attention", "mlp")
"""Attention to the pictures, attention to the text, an MLP."""


@dataclass(frozen=True, slots=True)
class WanShape(ModelShape):
    """Tensors of the parts of Wan. Methods raise NotModelled."""

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
