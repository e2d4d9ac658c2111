# idiom: a section replaced by dataclasses.replace
import dataclasses

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def replaced():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = dataclasses.replace(cfg.ddp, use_megatron_fsdp=True)  # decides: MFSDP101
    return cfg
