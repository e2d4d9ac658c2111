# idiom: everything that FSDP wants, in one helper
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


def small():  # recipe
    return shard(llama32_1b_pretrain_config())


def large():  # recipe
    return shard(llama3_8b_pretrain_config())
