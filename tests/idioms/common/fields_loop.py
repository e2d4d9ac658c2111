# idiom: only the fields that a section has are set
from dataclasses import fields

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

WANTED = {"use_megatron_fsdp": True, "shards_of_the_future": 3}  # decides: MFSDP101


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    known = {field.name for field in fields(cfg.ddp)}
    for name, value in WANTED.items():
        if name in known:
            setattr(cfg.ddp, name, value)
    return cfg
