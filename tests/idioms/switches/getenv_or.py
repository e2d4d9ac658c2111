# idiom: a fallback by or
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = os.environ.get("CKPT_FORMAT") or "fsdp_dtensor"  # decides: MFSDP102
    return cfg
