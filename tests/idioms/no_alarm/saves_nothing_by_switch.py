# idiom: a benchmark that saves only where somebody says where
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.checkpoint.save = os.environ.get("CHECKPOINTS")
    cfg.checkpoint.load = None
    if cfg.checkpoint.save:
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
