# idiom: keyword arguments become settings of the ddp section
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def with_ddp(**settings):
    cfg = llama3_8b_pretrain_config()
    for name, value in settings.items():
        setattr(cfg.ddp, name, value)
    return cfg


def sharded():  # recipe
    return with_ddp(use_megatron_fsdp=True, average_in_collective=False)  # decides: MFSDP101
