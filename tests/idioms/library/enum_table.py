# idiom: an enum whose members have the strategy
from enum import Enum

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Zero(Enum):
    ONE = "optim"
    TWO = "optim_grads"
    THREE = "optim_grads_params"


def sharded(zero: Zero = Zero.THREE):  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = zero.value
    return cfg
