from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

from .. import knobs


def big():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = knobs.FSDP
    return cfg
