# idiom: overrides as JSON in an environment variable that nobody sets
import json
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    for name, value in json.loads(os.environ.get("DDP_OVERRIDES", "{}")).items():
        setattr(cfg.ddp, name, value)
    return cfg
