"""Kinds of the small model: the recipe's own, as far as megatron-core has it without a GPU.

A plain GPT replaces the rest, and words name each replacement.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from .build import named

_GPT = "megatron.bridge.models.gpt_provider.GPTModelProvider"
_LATENT = "megatron.bridge.models.mla_provider.MLAModelProvider"
_MAMBA = "MambaModelProvider"

_LATENT_SIZES = {
    "model.q_lora_rank": 16,
    "model.kv_lora_rank": 16,
    "model.qk_head_dim": 8,
    "model.qk_pos_emb_head_dim": 4,
    "model.v_head_dim": 8,
    "model.rope_type": "rope",
}
_MAMBA_SIZES = {
    "model.num_layers": 3,
    "model.mamba_num_groups": 2,
    "model.mamba_state_dim": 8,
    "model.mamba_head_dim": 8,
    "model.num_query_groups": 4,
    "model.position_embedding_type": "none",
}
_VARIANT = "model.experimental_attention_variant"
_ADAPTERS = {"peft.dim": 4, "peft.alpha": 4, "peft.dropout": 0.0}


def prepare() -> None:
    """Import the modules that the models need, so that no question pays for it."""
    for name in (_GPT, _LATENT):
        named(name)


def small(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings with a small model of the recipe's kind, and the parts of the recipe's model that are
    replaced.
    """
    kind = named(settings.get("model.__class__"))
    bases = {base.__name__: f"{base.__module__}.{base.__qualname__}" for base in getattr(kind, "__mro__", ())}
    if _MAMBA in bases and hasattr(kind, "mamba_stack_spec"):
        layers = "M*E" if settings.get("model.num_moe_experts") else "M*-"
        pattern = "hybrid_layer_pattern" if hasattr(kind, "hybrid_layer_pattern") else "hybrid_override_pattern"
        model = {"model.__class__": bases[_MAMBA], **_MAMBA_SIZES, f"model.{pattern}": layers}
        substituted = [] if find_spec("mamba_ssm") else ["the scan of Mamba's layers by a plain loop"]
    elif ("MLATransformerConfig" in bases or settings.get("model.multi_latent_attention")) and named(_LATENT):
        model = {"model.__class__": _LATENT, **_LATENT_SIZES}
        substituted = []
    else:
        model = {"model.__class__": _GPT}
        substituted = list(_not_a_gpt(kind, settings))
    adapters = _ADAPTERS if has_adapters(settings) else {}
    kept = {path: value for path, value in settings.items() if path != _VARIANT}
    return {**kept, **model, **adapters}, substituted


def has_adapters(settings: Mapping[str, Any]) -> bool:
    """Tell whether adapters are trained, and not the model."""
    return any(path.startswith("peft.") for path in settings) and settings.get("peft", ...) is not None


def _not_a_gpt(kind: Any, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of a model that a plain GPT of megatron-core's own layers lacks."""
    plain = named(_GPT)
    if isinstance(kind, type):
        own = kind.provide is not plain.provide if hasattr(kind, "provide") else True
        if own or getattr(kind, "transformer_layer_spec", None) is not getattr(plain, "transformer_layer_spec", None):
            yield f"the model of {kind.__name__} by a plain GPT"
    elif unknown := settings.get("model.__class__"):
        yield f"the model of {unknown} by a plain GPT"
    if variant := settings.get(_VARIANT):
        yield f"{variant} by plain attention"
