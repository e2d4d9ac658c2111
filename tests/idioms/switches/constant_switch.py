# idiom: a constant at the top of the file
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

USE_FSDP = True  # decides: MFSDP101
STRATEGY = "optim_grads_params" if USE_FSDP else "no_shard"


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = USE_FSDP
    cfg.ddp.data_parallel_sharding_strategy = STRATEGY
    return cfg
