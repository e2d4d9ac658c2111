# idiom: functools.reduce over functions that change
from functools import reduce

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def shard(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def wide(cfg):
    cfg.model.tensor_model_parallel_size = 2
    return cfg


def both():  # recipe
    return reduce(lambda cfg, change: change(cfg), (shard, wide), llama3_8b_pretrain_config())
