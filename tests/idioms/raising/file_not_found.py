# idiom: overrides from a file that is not there
import json

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def with_overrides():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    try:
        with open("local_overrides.json") as stream:
            overrides = json.load(stream)
    except FileNotFoundError:
        overrides = {}
    for name, value in overrides.items():
        setattr(cfg.ddp, name, value)
    return cfg
