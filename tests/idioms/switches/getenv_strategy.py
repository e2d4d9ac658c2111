# idiom: the strategy from the environment
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = os.environ.get("SHARDING", "optim_grads_params")
    cfg.checkpoint.ckpt_format = os.environ.get("CKPT_FORMAT", "torch_dist")  # decides: MFSDP101
    return cfg
