# idiom: an environment variable with a default that turns FSDP on
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

USE_FSDP = bool(int(os.getenv("FSDP", "1")))  # decides: MFSDP101


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = USE_FSDP
    return cfg
