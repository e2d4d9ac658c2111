# idiom: start-up's own update runs in the script
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import runtime_config_update


def updated():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.model.context_parallel_size = 1
    runtime_config_update(cfg)
    return cfg
