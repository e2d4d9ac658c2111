# idiom: the precision as argument of upstream's low-precision recipe
from megatron.bridge.recipes.llama import llama3_8b_low_precision_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_low_precision_pretrain_config("bf16_with_fp8_current_scaling_mixed")  # decides: TypeError [>=0.6]
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101 [<0.6]
    return cfg
