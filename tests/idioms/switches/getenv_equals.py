# idiom: an environment variable compared with a text
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = os.environ.get("USE_FSDP", "0") == "1"
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    return cfg
