# idiom: the precision is a configuration that upstream's helper gives
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.mixed_precision import get_mixed_precision_config


def half_reduce():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.mixed_precision = get_mixed_precision_config("bf16_mixed")
    cfg.mixed_precision.grad_reduce_in_fp32 = False
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
