# idiom: a variable that the script sets itself and reads again
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

os.environ["USE_FSDP"] = "1"


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if os.environ["USE_FSDP"] == "1":
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
