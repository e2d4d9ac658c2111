# idiom: what differs from the defaults is logged
# versions: >=0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def logged():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.log_non_default_values()
    return cfg
