"""Functions of Megatron's that say which layers a model has, and the classes that build it of them.

The names are those of all supported releases. Read in Megatron-Bridge 0.3.1 and 0.6.0 (models/), and in megatron-core
0.16.1 (models/gpt/gpt_layer_specs.py, models/gpt/experimental_attention_variant_module_specs.py,
models/mamba/mamba_layer_specs.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.versions import VersionRange, parse_range

_MODELS = "megatron.bridge.models"
_GPT = f"{_MODELS}.gpt_provider"
_CORE = "megatron.core.models.gpt"

Layers = Literal[
    "one kind",
    "by layer",
    "by layer, predicts without experts",
    "by layer and attention",
    "gemma 2",
    "gemma 3",
    "olmoe",
    "wan",
]
"""Kinds of a model's layers: one for all, whatever model.moe_layer_freq and multi_latent_attention say; each layer's
own, by its experts (which those that predict further tokens may lack), and by model.experimental_attention_variant as
well; one with norms behind attention and MLP (Gemma 2), and of queries and keys too (Gemma 3); one with norms of all
queries and of all keys together; those of a diffusion model.
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
    f"{_MODELS}.ministral3.ministral3_provider.ministral_layer_spec": "one kind",
    # Its norms stand behind attention and MLP, not before them.
    f"{_MODELS}.exaone.exaone4.exaone4_provider.exaone4_layer_spec": "one kind",
    f"{_MODELS}.exaone.exaone45.exaone45_provider.exaone_45_transformer_layer_spec": "one kind",
    f"{_MODELS}.minimax_m3.minimax_m3_bridge.minimax_m3_block_spec": "by layer",
    f"{_MODELS}.exaone.exaone_moe.exaone_moe_provider"
    "._build_exaone_moe_layer_spec": "by layer, predicts without experts",
}

Builder = Literal["gpt", "hybrid", "wan"]

BUILDERS: Mapping[str, Builder] = {
    f"{_GPT}.GPTModelProvider": "gpt",
    f"{_MODELS}.gemma.gemma2_provider.Gemma2ModelProvider": "gpt",
    f"{_MODELS}.gemma.gemma3_provider.Gemma3ModelProvider": "gpt",
    f"{_MODELS}.mamba.mamba_provider.MambaModelProvider": "hybrid",
    f"{_MODELS}.hybrid.hybrid_provider.HybridModelProvider": "hybrid",
    "megatron.bridge.diffusion.models.wan.wan_provider.WanModelProvider": "wan",
}
"""Providers whose own `provide` builds a GPT, a model of the layers that a pattern names, or the diffusion model Wan.
Those of Gemma put other attributes beside the same weights."""

_ALL = parse_range(">=0")


@dataclass(frozen=True, slots=True)
class Beside:
    """A model of images or sound beside a language model: in words, and how the language model is built.

    `layers` is its kind of layers, None if the provider decides it as for a language model alone. `predicts` and
    `pads`: the megatron-cores of the releases in which it has layers that predict further tokens, and pads its
    vocabulary, as settings say.
    """

    what: str
    layers: Layers | None = None
    predicts: VersionRange = _ALL
    pads: VersionRange = _ALL


_VISION, _SOUND = "the vision model and its projection", "the vision and sound models and their projections"
_NONE = parse_range("<0")
_PREDICTED = parse_range(">=0.18")
_PADDED = parse_range(">=0.19")
_QWEN = f"{_MODELS}.qwen_vl"
_QWEN3_VL = Beside(_VISION, "one kind", predicts=_NONE, pads=_PADDED)
_QWEN35_VL = Beside(_VISION, "by layer and attention", _PREDICTED, _PADDED)

MULTIMODAL: Mapping[str, Beside] = {
    f"{_QWEN}.qwen_vl_provider.Qwen25VLModelProvider": Beside(_VISION),
    f"{_QWEN}.qwen25_vl_provider.Qwen25VLModelProvider": Beside(_VISION),
    f"{_QWEN}.qwen3_vl_provider.Qwen3VLModelProvider": _QWEN3_VL,
    f"{_QWEN}.qwen3_vl_provider.Qwen3VLMoEModelProvider": _QWEN3_VL,
    f"{_QWEN}.qwen35_vl_provider.Qwen35VLModelProvider": _QWEN35_VL,
    f"{_QWEN}.qwen35_vl_provider.Qwen35VLMoEModelProvider": _QWEN35_VL,
    f"{_MODELS}.gemma_vl.gemma3_vl_provider.Gemma3VLModelProvider": Beside(_VISION),
    f"{_MODELS}.glm_vl.glm_45v_provider.GLM45VModelProvider": Beside(_VISION),
    f"{_MODELS}.ministral3.ministral3_provider.Ministral3ModelProvider": Beside(_VISION),
    f"{_MODELS}.qwen_audio.qwen2_audio_provider.Qwen2AudioModelProvider": Beside("the audio model and its projection"),
    f"{_MODELS}.exaone.exaone45.exaone45_provider.Exaone45ModelProvider": Beside(_VISION, predicts=_NONE),
    f"{_MODELS}.kimi_vl.kimi_k25_vl_provider.KimiK25VLModelProvider": Beside(_VISION),
    f"{_MODELS}.qwen_omni.qwen3_omni_provider.Qwen3OmniModelProvider": Beside(_SOUND, "one kind", _NONE, _NONE),
    f"{_MODELS}.nemotron_vl.nemotron_vl_provider.NemotronVLModelProvider": Beside(_VISION, None, _NONE, _NONE),
    f"{_MODELS}.nemotron_omni.nemotron_omni_provider.NemotronOmniModelProvider": Beside(_SOUND, None, _NONE, _NONE),
}
"""Providers whose own `provide` builds a language model and another one beside it: by `provide_language_model`, or of
layers that they name there (Qwen 3 and 3.5: qwen_vl/modelling_qwen3_vl/model.py)."""
