# idiom: an enum member looked up by name
from enum import Enum

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Format(str, Enum):
    DENSE = "torch_dist"
    SHARDED = "fsdp_dtensor"


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.checkpoint.ckpt_format = Format["SHARDED"].value
    return cfg
