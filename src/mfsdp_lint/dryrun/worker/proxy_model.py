"""The small model: of the recipe's own kind, with its adapters, as far as megatron-core has it without a GPU.

A plain GPT replaces other kinds, and words name each replacement. Layers of megatron-core's own modules replace those
of Transformer Engine, which need a GPU. Adapters are put in before the model is wrapped, as the launcher does.
"""

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from .build import call, named

GPT = "megatron.bridge.models.gpt_provider.GPTModelProvider"
LATENT = "megatron.bridge.models.mla_provider.MLAModelProvider"
_MAMBA = "MambaModelProvider"

_LATENT_SIZES = {
    **dict.fromkeys(("model.q_lora_rank", "model.kv_lora_rank"), 16),
    "model.qk_head_dim": 8,
    "model.qk_pos_emb_head_dim": 4,
    "model.v_head_dim": 8,
    "model.rope_type": "rope",
}
_MAMBA_SIZES = {
    "model.num_layers": 3,
    "model.mamba_num_groups": 2,
    **dict.fromkeys(("model.mamba_state_dim", "model.mamba_head_dim"), 8),
    "model.num_query_groups": 4,
    "model.position_embedding_type": "none",
}
_VARIANT = "model.experimental_attention_variant"
_ADAPTERS = {"peft.dim": 4, "peft.alpha": 4, "peft.dropout": 0.0}


def small(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings with a small model of the recipe's kind, and the replaced parts of the recipe's model."""
    kind = named(settings.get("model.__class__"))
    bases = {base.__name__: f"{base.__module__}.{base.__qualname__}" for base in getattr(kind, "__mro__", ())}
    if _MAMBA in bases and hasattr(kind, "mamba_stack_spec"):
        layers = "M*E" if settings.get("model.num_moe_experts") else "M*-"
        pattern = "hybrid_layer_pattern" if hasattr(kind, "hybrid_layer_pattern") else "hybrid_override_pattern"
        model = {"model.__class__": bases[_MAMBA], **_MAMBA_SIZES, f"model.{pattern}": layers}
        substituted = [] if find_spec("mamba_ssm") else ["the scan of Mamba's layers by a plain loop"]
    elif ("MLATransformerConfig" in bases or settings.get("model.multi_latent_attention")) and named(LATENT):
        model = {"model.__class__": LATENT, **_LATENT_SIZES}
        substituted = []
    else:
        model = {"model.__class__": GPT}
        substituted = list(_not_a_gpt(kind, settings))
    has_adapters = any(path.startswith("peft.") for path in settings) and settings.get("peft", ...) is not None
    kept = {path: value for path, value in settings.items() if path != _VARIANT}
    return {**kept, **model, **(_ADAPTERS if has_adapters else {})}, substituted


def _not_a_gpt(kind: Any, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of a model that a plain GPT of megatron-core's own layers lacks."""
    plain = named(GPT)
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

    latent = getattr(config, "multi_latent_attention", False)
    spec = call(
        get_gpt_layer_local_spec,
        num_experts=config.num_moe_experts,
        moe_grouped_gemm=False,
        qk_layernorm=config.qk_layernorm,
        multi_latent_attention=latent,
        normalization=config.normalization,
    )
    if latent:
        spec.submodules.self_attention.submodules.core_attention = plain_attention()
    return spec


def plain_attention() -> type:
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


_STACKS = ("megatron.core.ssm.mamba_block", "megatron.core.models.hybrid.hybrid_block")
"""The modules that have a stack of Mamba's layers; the second from 0.18 on."""


def mend() -> None:
    """Mend megatron-core's own code for machines without Transformer Engine, where it does not work as it is.

    On a GPU none of it runs; the small model is made of it. To be called once megatron-core is imported.
    """
    import torch
    from megatron.core.ssm import mamba_mixer
    from megatron.core.transformer import dot_product_attention, multi_latent_attention
    from megatron.core.transformer.moe import moe_utils, token_dispatcher
    from megatron.core.transformer.torch_norm import WrappedTorchNorm

    # The router of experts asks for the name of a kernel that only Transformer Engine defines (0.15 and later).
    if not hasattr(moe_utils, "te_general_gemm"):
        moe_utils.te_general_gemm = None

    # The number of tokens for each rank has to be an array: upstream makes it one only on a GPU.
    move = token_dispatcher.maybe_move_tensor_to_cpu

    def ours(tensor: Any, as_numpy: bool = False, record_stream: bool = False) -> Any:
        if as_numpy and torch.is_tensor(tensor) and not tensor.is_cuda:
            return tensor.numpy()
        return move(tensor, as_numpy=as_numpy, record_stream=record_stream)

    token_dispatcher.maybe_move_tensor_to_cpu = ours
    # Upstream masks in place, which torch forbids on the views that FSDP makes of the scores up to 0.15.
    dot_product_attention.attention_mask_func = lambda scores, mask: scores.masked_fill(mask, -10000.0)
    # The kernels of Mamba's layers are a package for GPUs; here their own formulas take one token after the other.
    if not getattr(mamba_mixer, "HAVE_MAMBA_SSM", True):
        mamba_mixer.HAVE_MAMBA_SSM = True
        mamba_mixer.mamba_split_conv1d_scan_combined = _convolved_scan
        mamba_mixer.ExtendedRMSNorm = _norm_behind_scan(mamba_mixer)
    # The norm behind a stack of these is Transformer Engine's, whatever the layers are made of.
    for name in () if core_has_transformer_engine() else _STACKS:
        with contextlib.suppress(ImportError):
            stack: Any = importlib.import_module(name)
            stack.TENorm = WrappedTorchNorm
    # Latent attention and adapters look for its layers by classes that are None without it.
    checking: list[Any] = [multi_latent_attention]
    with contextlib.suppress(ImportError):
        checking.append(importlib.import_module("megatron.bridge.peft.utils"))
    for module in checking:
        if not isinstance(getattr(module, "TELinear", None), type):
            module.HAVE_TE = False


def _convolved_scan(
    projected: Any,
    weight: Any,
    bias: Any,
    step_bias: Any,
    decay: Any,
    D: Any,  # noqa: N803  # as callers name it
    *,
    headdim: int | None,
    ngroups: int,
    **_: Any,
) -> Any:
    """Compute gate, causal convolution and scan of a projection's output: batch, length, gate + x + B + C + step."""
    import torch
    import torch.nn.functional as functional

    heads = step_bias.shape[0]
    width = headdim or D.shape[1]
    inner = heads * width
    batch, length, _all = projected.shape
    gate, mixed, step = torch.split(projected, [inner, weight.shape[0], heads], dim=-1)
    mixed = functional.conv1d(
        functional.pad(mixed.transpose(1, 2), (weight.shape[1] - 1, 0)),
        weight.unsqueeze(1),
        bias,
        groups=weight.shape[0],
    )
    mixed = functional.silu(mixed.transpose(1, 2))
    states = (weight.shape[0] - inner) // 2
    x, into, out = torch.split(mixed, [inner, states, states], dim=-1)
    x = x.reshape(batch, length, heads, width).float()
    into, out = (
        each.reshape(batch, length, ngroups, -1).repeat_interleave(heads // ngroups, dim=2).float()
        for each in (into, out)
    )
    step = functional.softplus(step.float() + step_bias)
    state = x.new_zeros(batch, heads, width, into.shape[-1])
    found = []
    for token in range(length):
        now = step[:, token, :, None, None]
        state = state * torch.exp(now * decay[:, None, None]) + now * x[:, token, :, :, None] * into[:, token, :, None]
        found.append((state * out[:, token, :, None]).sum(-1))
    result = torch.stack(found, dim=1) + x * (D.float()[:, None] if D.dim() == 1 else D.float())
    result = result.reshape(batch, length, inner).to(projected.dtype)
    return result * functional.silu(gate)


def _norm_behind_scan(module: Any) -> type:
    """Make the norm behind the scan, with a sharded state as megatron-core gives it."""
    import torch

    theirs = module.ExtendedRMSNorm

    class Norm(torch.nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
        def __init__(self, size: int, eps: float = 1e-5, **keywords: Any) -> None:
            super().__init__()
            dtype, device = keywords.get("dtype"), keywords.get("device")
            self.weight = torch.nn.Parameter(torch.ones(size, dtype=dtype, device=device))
            self.eps = eps

        def forward(self, x: Any, gate: Any = None) -> Any:
            x = x if gate is None else x * torch.nn.functional.silu(gate)
            return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.eps)

        sharded_state_dict = getattr(theirs, "sharded_state_dict", None)

    return Norm


def core_has_transformer_engine() -> bool:
    """Tell whether megatron-core could import Transformer Engine, for real."""
    from megatron.core.models.gpt import gpt_layer_specs

    return bool(getattr(gpt_layer_specs, "HAVE_TE", False))


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

    else:
        from megatron.bridge.training.setup import _apply_peft_transformation

        config.checkpoint.pretrained_checkpoint = os.getcwd()

        def hook(model: Any) -> Any:
            return _apply_peft_transformation(config.peft, model)

    config.model.register_pre_wrap_hook(hook)
