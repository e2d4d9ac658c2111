# idiom: a package that is not installed, with a flag
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

try:
    import no_such_accelerator

    HAVE = True
except ImportError:
    HAVE = False


def plain():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    if HAVE:
        no_such_accelerator.patch(cfg)
    return cfg
