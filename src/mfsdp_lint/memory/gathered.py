"""Bytes that FSDP gathers for a while: the weights at work, and their gradients before they are reduced.

Facts of megatron-core 0.16.1. Megatron-FSDP with optim_grads_params makes a unit of every transformer layer
(distributed/fsdp/mcore_fsdp_adapter.py:96); two are gathered at once: the one at work and the next one, which
fsdp_double_buffer keeps two buffers for (megatron_fsdp.py:384, param_and_grad_buffer.py:661). Weights in no layer are
gathered as well (megatron_fsdp.py:692). torch FSDP2 makes units of layers, the embedding and the output layer
(distributed/torch_fully_sharded_data_parallel.py:60).
"""

from __future__ import annotations

from mfsdp_lint.memory.counting import Count
from mfsdp_lint.memory.facts import MEGATRON, TORCH, NotModelled, Precision, Wrapping

_UNITS = 2
"""The unit at work, and the next one."""


def gathered(wrapping: Wrapping, count: Count, precision: Precision) -> tuple[int, str]:
    """Return the bytes on a rank, and the formula. Raises NotModelled."""
    if "parameters" not in wrapping.sharded or wrapping.kind not in (MEGATRON, TORCH):
        return 0, "none"
    if count.layer is None or count.loose is None:
        raise NotModelled("the size of a layer is not known")
    weight, gradient = precision.parameters(), precision.gradients()
    units = f"{_UNITS} × {count.layer:,}"
    bytes_ = _UNITS * count.layer * (weight + gradient) + count.loose * weight
    return bytes_, f"({weight} + {gradient}) B × {units} + {weight} B × {count.loose:,}"
