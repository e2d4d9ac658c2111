# idiom: operator.setitem builds a table of settings
import operator

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

TABLE = {"use_megatron_fsdp": False}
operator.setitem(TABLE, "use_megatron_fsdp", True)  # decides: MFSDP101


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in TABLE.items():
        setattr(cfg.ddp, name, value)
    return cfg
