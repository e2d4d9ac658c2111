# idiom: a generator yields the changes
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def changes():
    yield "use_megatron_fsdp", True  # decides: MFSDP101
    yield "average_in_collective", False


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in changes():
        setattr(cfg.ddp, name, value)
    return cfg
