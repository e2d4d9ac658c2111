# idiom: operator.itemgetter picks values of a table
from operator import itemgetter

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

ROW = {"fsdp": True, "strategy": "optim_grads", "note": ""}  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    fsdp, strategy = itemgetter("fsdp", "strategy")(ROW)
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.ddp.data_parallel_sharding_strategy = strategy
    return cfg
