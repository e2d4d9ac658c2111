# idiom: FSDP is turned on by the argument of a call
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def base(use_megatron_fsdp=False, tp=1):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = use_megatron_fsdp
    cfg.model.tensor_model_parallel_size = tp
    return cfg


def sharded():  # recipe
    return base(use_megatron_fsdp=True)  # decides: MFSDP101
