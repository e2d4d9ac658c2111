"""The small model: of the recipe's own kind, with its adapters, as far as megatron-core has it without a GPU.

A plain GPT replaces other kinds, and words name each replacement. Layers of megatron-core's own modules replace those
of Transformer Engine, which need a GPU. Adapters are put in before the model is wrapped, as the launcher does.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from .build import call, named

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


def import_models() -> None:
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


def use_local_layers(model: Any) -> None:
    """Make a provider build its model of these layers."""
    if hasattr(model, "mamba_stack_spec"):
        model.mamba_stack_spec = _stack
    else:
        model.transformer_layer_spec = _transformer


def _transformer(config: Any) -> Any:
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec

    spec = call(
        get_gpt_layer_local_spec,
        num_experts=config.num_moe_experts,
        moe_grouped_gemm=False,
        qk_layernorm=config.qk_layernorm,
        multi_latent_attention=getattr(config, "multi_latent_attention", False),
        normalization=config.normalization,
    )
    if getattr(config, "multi_latent_attention", False):
        spec.submodules.self_attention.submodules.core_attention = _latent_attention()
    return spec


def _latent_attention() -> type:
    """Return the class of the plain attention, without the parameters for the width of its heads."""
    from megatron.core.transformer.dot_product_attention import DotProductAttention

    class Attention(DotProductAttention):  # type: ignore[misc]  # megatron is not installed where types are checked
        def __init__(self, *arguments: Any, k_channels: Any = None, v_channels: Any = None, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)

    return Attention


def _stack(config: Any) -> Any:
    """Return the specification of layers of Mamba, of attention, and of an MLP or experts, each as its own layer."""
    from megatron.core.fusions.fused_bias_dropout import get_bias_dropout_add
    from megatron.core.models.backends import LocalSpecProvider
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.moe_module_specs import get_moe_module_spec_for_backend
    from megatron.core.models.mamba import mamba_layer_specs as theirs
    from megatron.core.ssm.mamba_layer import MambaLayerSubmodules
    from megatron.core.ssm.mamba_mixer import MambaMixer, MambaMixerSubmodules
    from megatron.core.transformer.spec_utils import ModuleSpec
    from megatron.core.transformer.transformer_layer import TransformerLayerSubmodules

    backend = LocalSpecProvider()
    column, row = backend.column_parallel_linear(), backend.row_parallel_linear()
    norm = backend.layer_norm(rms_norm=config.normalization == "RMSNorm", for_qk=False)
    whole = call(get_gpt_layer_local_spec, normalization=config.normalization).submodules  # a dense layer's
    mixer = ModuleSpec(module=MambaMixer, submodules=MambaMixerSubmodules(in_proj=column, out_proj=row))
    stack, parts = theirs.mamba_stack_spec, theirs.mamba_stack_spec.submodules
    attention = TransformerLayerSubmodules(
        input_layernorm=norm, self_attention=whole.self_attention, self_attn_bda=get_bias_dropout_add
    )
    feed_forward = TransformerLayerSubmodules(pre_mlp_layernorm=norm, mlp=whole.mlp, mlp_bda=get_bias_dropout_add)
    experts = feed_forward
    if config.num_moe_experts:
        spec = get_moe_module_spec_for_backend(
            backend=backend, num_experts=config.num_moe_experts, moe_grouped_gemm=False
        )
        experts = TransformerLayerSubmodules(pre_mlp_layernorm=norm, mlp=spec, mlp_bda=get_bias_dropout_add)
    return ModuleSpec(
        module=stack.module,
        submodules=type(parts)(
            mamba_layer=ModuleSpec(
                module=parts.mamba_layer.module,
                submodules=MambaLayerSubmodules(norm=norm, mixer=mixer, mamba_bda=get_bias_dropout_add),
            ),
            attention_layer=ModuleSpec(module=parts.attention_layer.module, submodules=attention),
            mlp_layer=ModuleSpec(module=parts.mlp_layer.module, submodules=feed_forward),
            moe_layer=ModuleSpec(module=parts.moe_layer.module, submodules=experts),
        ),
    )


def prepare_adapters(config: Any, base: str | None, at: Callable[[str], None]) -> None:
    """Make the provider put the adapters in, after the model's weights were read from `base`; `at` is told when they
    are.

    Without a base, nothing is read: validation insists on a place for the weights, which are the proxy's own.
    """
    if base is not None:
        from megatron.bridge.training.setup import _create_peft_pre_wrap_hook
        from megatron.bridge.training.state import GlobalState

        # The launcher's own hook reads the base, and puts the adapters in.
        state = GlobalState()
        state.cfg = config
        config.checkpoint.pretrained_checkpoint = base
        launchers = _create_peft_pre_wrap_hook(config, state)

        def hook(model: Any) -> Any:
            at("load")
            with_adapters = launchers(model)
            at("wrap")
            return with_adapters

        config.model.register_pre_wrap_hook(hook)
        return
    from megatron.bridge.training.setup import _apply_peft_transformation

    config.checkpoint.pretrained_checkpoint = os.getcwd()
    config.model.register_pre_wrap_hook(lambda model: _apply_peft_transformation(config.peft, model))
