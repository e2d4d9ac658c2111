# idiom: try a newer function first, and fall back on AttributeError to the older one
from megatron.bridge.recipes import llama

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def build():
    try:
        factory = llama.llama99_1t_pretrain_config
    except AttributeError:
        factory = llama3_8b_pretrain_config
    else:
        raise RuntimeError("time to update")
    finally:
        print("chosen")
    return factory()


def recipe():  # recipe
    cfg = build()
    try:
        cfg.train["train_iters"] = 3
    except TypeError:
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
