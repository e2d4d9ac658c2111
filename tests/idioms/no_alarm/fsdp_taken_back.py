# idiom: FSDP is turned on and off again before anything is launched
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = False
    return cfg
