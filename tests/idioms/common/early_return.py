# idiom: an early return before FSDP is turned on
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def build(fsdp=False):  # recipe; decides: MFSDP102
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    if not fsdp:
        return cfg
    cfg.ddp.use_megatron_fsdp = True
    return cfg
