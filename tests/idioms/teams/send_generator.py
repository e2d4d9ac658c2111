# idiom: a generator delegates with yield from, and a helper drains it
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def common():
    yield "train", "train_iters", 10
    yield "train", "global_batch_size", 16


def sharding(on):
    if not on:
        return
    yield from (("ddp", name, True) for name in ("use_megatron_fsdp", "overlap_grad_reduce"))  # decides: MFSDP101


def changes(on):
    yield from common()
    yield from sharding(on)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for section, name, value in changes(True):
        setattr(getattr(cfg, section), name, value)
    return cfg


def off():  # recipe
    cfg = llama3_8b_pretrain_config()
    [setattr(getattr(cfg, section), name, value) for section, name, value in changes(False)]
    return cfg
