# idiom: a module's variable that a function changes
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

_fsdp = False


def enable():
    global _fsdp
    _fsdp = True  # decides: MFSDP101


def recipe():  # recipe
    enable()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = _fsdp
    return cfg
