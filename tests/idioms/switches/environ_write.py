# idiom: the recipe's module sets CUDA_DEVICE_MAX_CONNECTIONS
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"  # decides: MFSDP501 [>=0.5]


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.model.context_parallel_size = 1
    return cfg
