# idiom: a setting only where the release has it
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if hasattr(cfg.ddp, "fsdp_double_buffer"):
        cfg.ddp.fsdp_double_buffer = True
    if hasattr(cfg.ddp, "no_such_switch"):
        cfg.ddp.no_such_switch = True
    return cfg
