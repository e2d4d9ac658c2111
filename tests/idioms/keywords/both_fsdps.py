# idiom: torch FSDP2 and Megatron-FSDP at once
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.dist.use_torch_fsdp2 = True  # decides: MFSDP201
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
