# idiom: the default of a parameter turns FSDP on
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(fsdp: bool = True):  # recipe; decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg
