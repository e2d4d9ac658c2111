"""megatron-core's own code for machines without Transformer Engine, where it does not work as it is.

On a GPU none of it runs; the small model is made of it. To be called once megatron-core is imported.
"""

import contextlib
import importlib
from typing import Any

_STACKS = ("megatron.core.ssm.mamba_block", "megatron.core.models.hybrid.hybrid_block")
"""Where a stack of Mamba's layers is; the second from 0.18 on."""


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

    from . import scan

    module: Any = mamba_mixer
    if getattr(module, "HAVE_MAMBA_SSM", True):
        return
    module.HAVE_MAMBA_SSM = True
    module.mamba_split_conv1d_scan_combined = scan.convolved_scan
    module.ExtendedRMSNorm = scan.norm(module)


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

    if _has_transformer_engine():
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


def _has_transformer_engine() -> bool:
    from megatron.core.models.gpt import gpt_layer_specs

    return bool(getattr(gpt_layer_specs, "HAVE_TE", False))
