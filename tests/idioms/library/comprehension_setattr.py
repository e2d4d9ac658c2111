# idiom: changes in a list comprehension
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    [setattr(cfg.ddp, name, True) for name in ("use_megatron_fsdp", "check_for_nan_in_grad")]  # decides: MFSDP101
    return cfg
