# idiom: JSON in a text of the module
import json

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

SETTINGS = json.loads('{"use_megatron_fsdp": true, "overlap_param_gather": true}')  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in SETTINGS.items():
        setattr(cfg.ddp, name, value)
    return cfg
