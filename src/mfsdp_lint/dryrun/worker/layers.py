"""Layers of megatron-core's own modules: those of Transformer Engine need a GPU."""

from typing import Any

from .calls import call


def be_local(model: Any) -> None:
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
    from megatron.core.models.gpt.moe_module_specs import get_moe_module_spec_for_backend
    from megatron.core.models.mamba import mamba_layer_specs as theirs
    from megatron.core.ssm.mamba_layer import MambaLayerSubmodules
    from megatron.core.ssm.mamba_mixer import MambaMixer, MambaMixerSubmodules
    from megatron.core.transformer.spec_utils import ModuleSpec
    from megatron.core.transformer.transformer_layer import TransformerLayerSubmodules

    backend = LocalSpecProvider()
    column, row = backend.column_parallel_linear(), backend.row_parallel_linear()
    norm = backend.layer_norm(rms_norm=config.normalization == "RMSNorm", for_qk=False)
    whole = _transformer_parts(config)
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


def _transformer_parts(config: Any) -> Any:
    """Return the modules of a dense transformer layer."""
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec

    return call(get_gpt_layer_local_spec, normalization=config.normalization).submodules
