# idiom: one of two recipes forgets the helper for checkpoints
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"


def checkpoints(cfg):
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"


def small():  # recipe
    cfg = llama32_1b_pretrain_config()
    shard(cfg)
    checkpoints(cfg)
    return cfg


def large():  # recipe
    cfg = llama3_8b_pretrain_config()
    shard(cfg)
    return cfg
