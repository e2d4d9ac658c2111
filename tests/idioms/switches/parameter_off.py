# idiom: a parameter that leaves FSDP off
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(fsdp=False):  # recipe
    cfg = llama3_8b_pretrain_config()
    if fsdp:
        cfg.ddp.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg
