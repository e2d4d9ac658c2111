# idiom: the attributes of a section updated through vars
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def updated():  # recipe
    cfg = llama3_8b_pretrain_config()
    vars(cfg.ddp).update(use_megatron_fsdp=True)  # decides: MFSDP101
    return cfg
