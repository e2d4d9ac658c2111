# idiom: a recipe that calls another one and takes FSDP back
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg


def replicated():  # recipe
    cfg = sharded()
    cfg.ddp.use_megatron_fsdp = False  # decides: MFSDP102
    return cfg
