# idiom: a name that is no field
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.ddp.use_megatron_fsdpp = True  # decides: MFSDP701
    return cfg
