# idiom: itertools.starmap over pairs of name and value
from itertools import starmap

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    pairs = [("use_megatron_fsdp", True), ("average_in_collective", False)]  # decides: MFSDP101
    list(starmap(lambda name, value: setattr(cfg.ddp, name, value), pairs))
    return cfg
