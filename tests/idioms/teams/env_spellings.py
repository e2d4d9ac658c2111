# idiom: one switch with several spellings in the environment, and a helper for booleans
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def flag(*names, default=False):
    for name in names:
        if (text := os.environ.get(name)) is not None:
            return text.strip().lower() in {"1", "true", "yes", "on"}
    return default


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if flag("USE_FSDP", "FSDP", "ENABLE_FSDP", default=True):  # decides: MFSDP101
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if flag("SAVE_DTENSOR"):
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
