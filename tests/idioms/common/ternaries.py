# idiom: conditional expressions on parameters
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(fsdp=True, long=False):  # recipe; decides: MFSDP101
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True if fsdp else False
    cfg.model.context_parallel_size = 4 if long else 1
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params" if fsdp else "no_shard"
    return cfg
