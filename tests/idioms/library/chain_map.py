# idiom: a ChainMap of the user's changes over defaults
from collections import ChainMap

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

DEFAULTS = {"use_megatron_fsdp": False, "average_in_collective": True}
CHANGES = {"use_megatron_fsdp": True}  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in ChainMap(CHANGES, DEFAULTS).items():
        setattr(cfg.ddp, name, value)
    return cfg
