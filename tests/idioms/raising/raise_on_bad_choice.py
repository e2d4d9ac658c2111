# idiom: a choice that nobody makes raises
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def build(sharding="zero3"):  # recipe
    cfg = llama3_8b_pretrain_config()
    if sharding == "zero3":
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    elif sharding == "zero2":
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads"
    else:
        raise ValueError(f"unknown sharding {sharding}")
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
