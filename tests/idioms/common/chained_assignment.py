# idiom: one value for two settings
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = cfg.dist.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
