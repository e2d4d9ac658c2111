# idiom: whether a variable is set at all
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = "PLAIN_DDP" not in os.environ  # decides: MFSDP101
    return cfg
