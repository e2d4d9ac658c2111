# idiom: a section changed through a weak proxy
import weakref

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    ddp = weakref.proxy(cfg.ddp)
    ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
