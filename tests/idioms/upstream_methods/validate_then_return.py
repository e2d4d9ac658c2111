# idiom: a recipe that validates itself before it is handed out
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def fsdp_8b():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.validate()
    return cfg
