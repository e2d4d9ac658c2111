# idiom: everything is imported where it is used
def recipe():  # recipe
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base

    cfg = base()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
