# idiom: which recipe is imported depends on a constant of the file
SMALL = False

if SMALL:
    from megatron.bridge.recipes.llama import llama32_1b_pretrain_config as base
else:
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base


def recipe():  # recipe
    cfg = base()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
