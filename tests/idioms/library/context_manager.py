# idiom: a context manager of one's own around the changes
from contextlib import contextmanager

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@contextmanager
def section(cfg, name):
    yield getattr(cfg, name)


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    with section(cfg, "ddp") as ddp:
        ddp.use_megatron_fsdp = True  # decides: MFSDP101
        ddp.average_in_collective = False
    return cfg
