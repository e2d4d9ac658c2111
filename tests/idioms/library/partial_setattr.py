# idiom: functools.partial of setattr
from functools import partial

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    put = partial(setattr, cfg.ddp)
    put("use_megatron_fsdp", True)  # decides: MFSDP101
    return cfg
