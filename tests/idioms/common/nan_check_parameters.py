# idiom: annotated parameters with keyword-only defaults
from typing import Literal

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(  # recipe
    *,
    strategy: Literal["optim_grads", "optim_grads_params"] = "optim_grads_params",
    check_nan: bool = True,
    fsdp: bool = True,  # decides: MFSDP101
):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.ddp.data_parallel_sharding_strategy = strategy
    cfg.ddp.check_for_nan_in_grad = check_nan
    return cfg
