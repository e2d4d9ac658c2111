# idiom: fields that only some versions have are set through a compatibility helper
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def set_if_present(target, **values):
    missing = []
    for name, value in values.items():
        if hasattr(target, name):
            setattr(target, name, value)
        else:
            missing.append(name)
    return missing


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    set_if_present(cfg.ddp, use_custom_fsdp=True, use_megatron_fsdp=True)  # decides: MFSDP101
    set_if_present(cfg.ddp, no_such_thing_at_all=1)
    if set_if_present(cfg.model, made_up_switch=True):
        cfg.train.train_iters = 11
    return cfg
