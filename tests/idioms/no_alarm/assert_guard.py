# idiom: a check of one's own that would refuse the bad pair
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def check(cfg):
    if cfg.ddp.use_megatron_fsdp and cfg.checkpoint.ckpt_format != "fsdp_dtensor":
        raise ValueError("FSDP needs fsdp_dtensor")


def recipe(fsdp=False):  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    check(cfg)
    return cfg
