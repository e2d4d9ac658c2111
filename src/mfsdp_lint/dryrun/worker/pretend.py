"""Parts of a machine for training that start-up validation asks for: a recent GPU, Transformer Engine.

Without these, validation would refuse settings for want of a package, and not say whether they are right.
"""

import importlib
import importlib.util
from typing import Any

_FUSED = {
    "megatron.core.models.common.embeddings.rope_utils": (
        "fused_apply_rotary_pos_emb",
        "fused_apply_rotary_pos_emb_thd",
    ),
    "megatron.core.transformer.moe.moe_utils": (
        "fused_permute",
        "fused_permute_with_probs",
        "fused_sort_chunks_by_index",
        "fused_sort_chunks_by_index_with_probs",
        "fused_unpermute",
    ),
}
"""Kernels that validation looks for, by module: without Transformer Engine they are None, or not there."""


def pretend(transformer_engine: str) -> list[str]:
    """Set up the pretended parts and return their names; `transformer_engine` is the version that the release at hand
    is for.
    """
    pretended = []
    if _pretend_a_gpu():
        pretended.append("a GPU of compute capability 9.0")
    if _pretend_transformer_engine(transformer_engine):
        pretended.append(f"Transformer Engine {transformer_engine}")
    return pretended


def _pretend_a_gpu() -> bool:
    import torch

    if torch.cuda.is_available():
        return False
    from .shim import device_properties

    device_properties(torch)
    return True


def _pretend_transformer_engine(version: str) -> bool:
    import megatron.core.utils as utils
    from packaging.version import Version

    if getattr(utils, "HAVE_TE", False):
        return False
    core: Any = utils
    core._te_version = Version(version)
    _pretend_optimizer()
    for name, kernels in _FUSED.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for kernel in kernels:
            if getattr(module, kernel, None) is None:
                setattr(module, kernel, _kernel)
    return True


def _pretend_optimizer() -> None:
    """Define the fused optimizer, whose arguments Megatron-Bridge's validation looks at."""
    try:
        import transformer_engine.pytorch.optimizers as optimizers
    except ImportError:  # nobody stands in for it
        return

    class FusedAdam:
        def __init__(
            self,
            params: Any = (),
            master_weight_dtype: Any = None,
            exp_avg_dtype: Any = None,
            exp_avg_sq_dtype: Any = None,
            use_decoupled_grad: bool = False,
            store_param_remainders: bool = False,
        ) -> None:
            _kernel()

    optimizers.FusedAdam = FusedAdam


def _kernel(*arguments: Any, **keywords: Any) -> None:
    raise RuntimeError("this kernel is only pretended")
