# idiom: the recipe validates itself, and is refused
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def refused():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: AssertionError
    cfg.validate()
    return cfg
