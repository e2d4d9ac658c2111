"""megatron-core's own code for machines without Transformer Engine, where it does not work as it is.

On a GPU none of it runs; the small model is made of it. To be called once megatron-core is imported.
"""

import contextlib
import importlib
from typing import Any

_STACKS = ("megatron.core.ssm.mamba_block", "megatron.core.models.hybrid.hybrid_block")
"""The modules that have a stack of Mamba's layers; the second from 0.18 on."""


def mend() -> None:
    """Apply all mends below, as far as this version has the code."""
    _router()
    _splits()
    _mask()
    _scan()
    _last_norm()
    _latent_attention()
    _adapters()


def _router() -> None:
    """Define the kernel's name that the router of experts asks for, and that only Transformer Engine defines (0.15 and
    later).
    """
    from megatron.core.transformer.moe import moe_utils

    module: Any = moe_utils
    if not hasattr(module, "te_general_gemm"):
        module.te_general_gemm = None


def _splits() -> None:
    """Make an array of the number of tokens for each rank on a CPU too: upstream does so only on a GPU, and sending
    takes no tensor.
    """
    import torch
    from megatron.core.transformer.moe import token_dispatcher

    module: Any = token_dispatcher
    move = module.maybe_move_tensor_to_cpu

    def ours(tensor: Any, as_numpy: bool = False, record_stream: bool = False) -> Any:
        if as_numpy and torch.is_tensor(tensor) and not tensor.is_cuda:
            return tensor.numpy()
        return move(tensor, as_numpy=as_numpy, record_stream=record_stream)

    module.maybe_move_tensor_to_cpu = ours


def _mask() -> None:
    """Replace the mask of attention scores: upstream masks in place, which torch forbids on the views that FSDP makes
    of them up to 0.15.
    """
    from megatron.core.transformer import dot_product_attention

    module: Any = dot_product_attention
    module.attention_mask_func = lambda scores, mask: scores.masked_fill(mask, -10000.0)


def _scan() -> None:
    """Replace the kernels of Mamba's layers, which are a package for GPUs, by their own formulas, one token after the
    other.
    """
    from megatron.core.ssm import mamba_mixer

    module: Any = mamba_mixer
    if getattr(module, "HAVE_MAMBA_SSM", True):
        return
    module.HAVE_MAMBA_SSM = True
    module.mamba_split_conv1d_scan_combined = _convolved_scan
    module.ExtendedRMSNorm = _norm_behind_scan(module)


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
    """Compute a gate, a causal convolution and a scan of the projection's output: batch, length, gate + x + B + C +
    step.
    """
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


def _adapters() -> None:
    """Tell adapters that Transformer Engine is missing: they look for its layers by classes that are None
    without it.
    """
    try:
        module: Any = importlib.import_module("megatron.bridge.peft.utils")
    except ImportError:
        return
    if not isinstance(getattr(module, "TELinear", None), type):
        module.HAVE_TE = False


def _last_norm() -> None:
    """Replace the norm behind a stack of Mamba's layers: it is Transformer Engine's, whatever the layers
    are made of.
    """
    from megatron.core.transformer.torch_norm import WrappedTorchNorm

    if core_has_transformer_engine():
        return
    for name in _STACKS:
        with contextlib.suppress(ImportError):
            module: Any = importlib.import_module(name)
            module.TENorm = WrappedTorchNorm


def _latent_attention() -> None:
    """Tell latent attention that Transformer Engine is missing: it checks its projection by a class that is None
    without it.
    """
    from megatron.core.transformer import multi_latent_attention

    module: Any = multi_latent_attention
    if not isinstance(getattr(module, "TELinear", None), type):
        module.HAVE_TE = False


def core_has_transformer_engine() -> bool:
    """Tell whether megatron-core could import Transformer Engine, for real."""
    from megatron.core.models.gpt import gpt_layer_specs

    return bool(getattr(gpt_layer_specs, "HAVE_TE", False))
