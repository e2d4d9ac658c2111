# idiom: changes gathered by section in a defaultdict
from collections import defaultdict

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    changes = defaultdict(dict)
    changes["ddp"]["use_megatron_fsdp"] = True  # decides: MFSDP101
    changes["train"]["train_iters"] = 20
    for section, values in changes.items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    return cfg
