# idiom: an argument that is handed through two functions
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def inner(cfg, enabled):
    cfg.ddp.use_megatron_fsdp = enabled


def outer(**options):
    cfg = llama3_8b_pretrain_config()
    inner(cfg, options.get("fsdp", False))
    return cfg


def sharded():  # recipe
    return outer(
        fsdp=True,  # decides: MFSDP101
        name="sharded",
    )
