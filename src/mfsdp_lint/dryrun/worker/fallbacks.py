"""megatron-core's own code for machines without Transformer Engine, where it does not work as it is.

On a GPU none of it runs; the small model is made of it. To be called once megatron-core is imported.
"""

from typing import Any


def mend() -> None:
    """Mends all of it, as far as this version has it."""
    _router()
    _splits()
    _mask()


def _router() -> None:
    """The router of experts asks for a kernel by a name that is only there with Transformer Engine (0.15 and later)."""
    from megatron.core.transformer.moe import moe_utils

    module: Any = moe_utils
    if not hasattr(module, "te_general_gemm"):
        module.te_general_gemm = None


def _splits() -> None:
    """How many tokens go to which rank is made an array only where it comes from a GPU, and sending takes no tensor."""
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
    """Attention scores are masked in place, which torch forbids on the views that FSDP makes of them up to 0.15."""
    from megatron.core.transformer import dot_product_attention

    module: Any = dot_product_attention
    module.attention_mask_func = lambda scores, mask: scores.masked_fill(mask, -10000.0)
