# idiom: contextlib.suppress around a field that not every release has
from contextlib import suppress

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def tolerant():  # recipe
    cfg = llama3_8b_pretrain_config()
    with suppress(AttributeError):
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.dataset.no_such_section.value = 1
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
