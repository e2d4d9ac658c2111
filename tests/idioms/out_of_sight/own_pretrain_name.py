# idiom: a function of the user's own that is called pretrain only prepares
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def pretrain(cfg):
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"


def prepared():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    pretrain(cfg)
    return cfg
