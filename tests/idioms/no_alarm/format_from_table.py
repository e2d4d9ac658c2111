# idiom: the format follows from the strategy by a table
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

FORMATS = {"no_shard": "torch_dist", "optim_grads_params": "fsdp_dtensor"}


def recipe(strategy="optim_grads_params"):  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.data_parallel_sharding_strategy = strategy
    cfg.ddp.use_megatron_fsdp = strategy != "no_shard"
    cfg.checkpoint.ckpt_format = FORMATS[strategy]
    return cfg
