# idiom: FSDP and its checkpoint format follow one environment variable
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

FSDP = os.environ.get("FSDP", "0") == "1"


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = FSDP
    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if FSDP else "torch_dist"
    if FSDP:
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg
