"""Megatron-FSDP on an upstream recipe: everything the guide asks for but the checkpoint format.

The upstream recipe saves in the format torch_dist, which start-up validation refuses with Megatron-FSDP.
"""

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import ConfigContainer


def llama3_8b_fsdp() -> ConfigContainer:
    """Llama 3 8B, sharded with Megatron-FSDP."""
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    return cfg
