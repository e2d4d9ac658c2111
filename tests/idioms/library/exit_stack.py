# idiom: changes that an ExitStack takes back when the block ends
from contextlib import ExitStack

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def restored():  # recipe
    cfg = llama3_8b_pretrain_config()
    with ExitStack() as stack:
        before = cfg.ddp.use_megatron_fsdp
        cfg.ddp.use_megatron_fsdp = True
        stack.callback(setattr, cfg.ddp, "use_megatron_fsdp", before)
    return cfg
