# idiom: an environment variable picks a row of a table
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

ROWS = {
    "zero3": {"use_megatron_fsdp": True, "data_parallel_sharding_strategy": "optim_grads_params"},  # decides: MFSDP101
    "ddp": {"use_megatron_fsdp": False},
}


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in ROWS[os.environ.get("MODE", "zero3")].items():
        setattr(cfg.ddp, name, value)
    return cfg
