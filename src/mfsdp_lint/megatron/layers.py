"""Functions of Megatron's that say which layers a model has, and the classes that build it of them.

The names are those of all supported releases. Read in Megatron-Bridge 0.3.1 and 0.6.0 (models/), and in megatron-core
0.16.1 (models/gpt/gpt_layer_specs.py, models/gpt/experimental_attention_variant_module_specs.py,
models/mamba/mamba_layer_specs.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

_MODELS = "megatron.bridge.models"
_GPT = f"{_MODELS}.gpt_provider"
_CORE = "megatron.core.models.gpt"

Layers = Literal["one kind", "by layer", "by layer and attention", "gemma 2", "gemma 3", "olmoe"]
"""Kinds of a model's layers: one for all, whatever model.moe_layer_freq and multi_latent_attention say; each layer's
own, by its experts, and by model.experimental_attention_variant as well; one with norms behind attention and MLP
(Gemma 2), and of queries and keys too (Gemma 3); one with norms of all queries and of all keys together.
"""

LAYER_FUNCTIONS: Mapping[str, Layers] = {
    f"{_GPT}.default_layer_spec": "one kind",
    f"{_GPT}.transformer_engine_layer_spec": "one kind",
    f"{_CORE}.gpt_layer_specs.get_gpt_decoder_block_spec": "by layer",
    f"{_CORE}.experimental_attention_variant_module_specs"
    ".get_transformer_block_with_experimental_attention_variant_spec": "by layer and attention",
    f"{_MODELS}.gemma.gemma2_provider.gemma2_layer_spec": "gemma 2",
    f"{_MODELS}.gemma.gemma3_provider.gemma3_layer_spec": "gemma 3",
    f"{_MODELS}.olmoe.olmoe_provider.olmoe_layer_spec": "olmoe",
}

Builder = Literal["gpt", "hybrid"]

BUILDERS: Mapping[str, Builder] = {
    f"{_GPT}.GPTModelProvider": "gpt",
    f"{_MODELS}.gemma.gemma2_provider.Gemma2ModelProvider": "gpt",
    f"{_MODELS}.gemma.gemma3_provider.Gemma3ModelProvider": "gpt",
    f"{_MODELS}.mamba.mamba_provider.MambaModelProvider": "hybrid",
    f"{_MODELS}.hybrid.hybrid_provider.HybridModelProvider": "hybrid",
}
"""Providers whose own `provide` builds a GPT, or a model of the layers that a pattern names. Those of Gemma put other
attributes beside the same weights."""
