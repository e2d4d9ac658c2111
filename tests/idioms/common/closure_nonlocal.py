# idiom: a counter in a closure
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    changes = 0

    def put(section, name, value):
        nonlocal changes
        changes += 1
        setattr(section, name, value)

    put(cfg.ddp, "use_megatron_fsdp", True)  # decides: MFSDP101
    put(cfg.train, "micro_batch_size", changes)
    return cfg
