# idiom: the base is cached, and one variant forgets to copy it
import copy
from functools import lru_cache

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@lru_cache(maxsize=None)
def base():
    return llama3_8b_pretrain_config()


def with_fsdp():  # recipe
    cfg = copy.deepcopy(base())
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


def without():  # recipe
    return copy.deepcopy(base())
