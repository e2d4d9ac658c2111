# idiom: a guarded setter that refuses names that are not there
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def put(section, name, value):
    if not hasattr(section, name):
        raise AttributeError(f"{type(section).__name__} has no {name}")
    setattr(section, name, value)


def guarded():  # recipe
    cfg = llama3_8b_pretrain_config()
    put(cfg.ddp, "use_megatron_fsdp", True)  # decides: MFSDP101
    put(cfg.ddp, "average_in_collective", False)
    return cfg
