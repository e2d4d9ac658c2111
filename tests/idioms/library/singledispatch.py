# idiom: functools.singledispatch on what a change is
from functools import singledispatch

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@singledispatch
def change(value, cfg):
    raise TypeError(type(value))


@change.register
def _(value: str, cfg):
    cfg.ddp.data_parallel_sharding_strategy = value


@change.register
def _(value: bool, cfg):
    cfg.ddp.use_megatron_fsdp = value


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    change(True, cfg)  # decides: MFSDP101
    change("optim_grads_params", cfg)
    return cfg
