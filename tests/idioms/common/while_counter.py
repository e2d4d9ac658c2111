# idiom: a while loop that doubles a size
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    size = 1
    while size * 2 <= 4:
        size *= 2
    cfg.model.tensor_model_parallel_size = size
    cfg.model.sequence_parallel = size > 1
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
