# idiom: a checkpoint to start from, and FSDP
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def warm():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.checkpoint.load = "/ckpt/llama3"
    cfg.checkpoint.finetune = True
    return cfg
