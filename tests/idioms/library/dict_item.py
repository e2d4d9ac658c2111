# idiom: an attribute set through __dict__
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def updated():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.__dict__["use_megatron_fsdp"] = True  # decides: MFSDP101
    return cfg
