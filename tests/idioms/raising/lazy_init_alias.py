# idiom: process groups are left to the caller, by the older name
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def lazy():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.dist.lazy_init = True
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
