# idiom: recipes that are made once
from functools import cache

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@cache
def base():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
