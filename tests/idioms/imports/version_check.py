# idiom: a check of the installed version of Megatron-Bridge
import megatron.bridge
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

NEW = tuple(int(part) for part in megatron.bridge.__version__.split(".")[:2]) >= (0, 3)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if NEW:
        cfg.logger.log_interval = 5
    return cfg
