# idiom: the precision is made by upstream's function, and changed
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.mixed_precision import bf16_with_fp8_current_scaling_mixed


def fp8():  # recipe
    cfg = llama3_8b_pretrain_config()
    precision = bf16_with_fp8_current_scaling_mixed()
    precision.fp8_param_gather = False
    cfg.mixed_precision = precision
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
