# idiom: functools.partial of a builder
from functools import partial

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def build(fsdp, tp=1):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = fsdp
    cfg.model.tensor_model_parallel_size = tp
    return cfg


sharded = partial(build, True, tp=2)  # recipe: sharded(); decides: MFSDP101
