# idiom: a context manager that restores the setting afterwards
from contextlib import contextmanager

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@contextmanager
def temporarily(obj, name, value):
    before = getattr(obj, name)
    setattr(obj, name, value)
    try:
        yield obj
    finally:
        setattr(obj, name, before)


def restored():  # recipe
    cfg = llama3_8b_pretrain_config()
    with temporarily(cfg.ddp, "use_megatron_fsdp", True):
        cfg.train.train_iters = 50
    return cfg
