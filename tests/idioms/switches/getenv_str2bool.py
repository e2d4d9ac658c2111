# idiom: str2bool of an environment variable
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def str2bool(text):
    return str(text).lower() in ("1", "true", "yes", "on")


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = str2bool(os.environ.get("USE_FSDP", "true"))  # decides: MFSDP101
    return cfg
