# idiom: a context manager changes settings for its block and puts them back
from contextlib import contextmanager

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@contextmanager
def changed(target, **values):
    before = {name: getattr(target, name) for name in values}
    try:
        for name, value in values.items():
            setattr(target, name, value)
        yield target
    finally:
        for name, value in before.items():
            setattr(target, name, value)


def put_back():  # recipe
    cfg = llama3_8b_pretrain_config()
    with changed(cfg.ddp, use_megatron_fsdp=True):
        print(cfg.ddp.use_megatron_fsdp)
    return cfg


def inside():  # recipe
    cfg = llama3_8b_pretrain_config()
    with changed(cfg.train, train_iters=7) as train:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.scheduler.lr_decay_iters = train.train_iters
    return cfg
