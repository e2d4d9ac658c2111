# idiom: an if on an environment variable that nobody sets
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if os.getenv("NO_FSDP") is None:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
