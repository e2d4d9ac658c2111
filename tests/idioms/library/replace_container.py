# idiom: dataclasses.replace of the checkpoint section
from dataclasses import replace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def renamed():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint = replace(cfg.checkpoint, ckpt_format="fsdp_dtensor", save="/ckpt", load=None)  # decides: MFSDP102
    return cfg
