# idiom: the sequence length under a switch of the environment
# versions: >=0.3
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    if os.environ.get("LONG"):
        cfg.dataset.seq_length = 65536
        cfg.ddp.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
