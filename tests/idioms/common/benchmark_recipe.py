# idiom: a benchmark that saves and loads nothing
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def benchmark():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.checkpoint.save = None
    cfg.checkpoint.load = None
    cfg.train.train_iters = 50
    return cfg
