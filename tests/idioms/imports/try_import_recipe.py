# idiom: a recipe that only some releases have, with another one otherwise
try:
    from megatron.bridge.recipes.llama import llama3_8b_sft_config as base
except ImportError:
    from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as base


def tuned():  # recipe
    cfg = base()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
