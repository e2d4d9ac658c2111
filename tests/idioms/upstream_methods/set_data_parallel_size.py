# idiom: the data-parallel size is worked out in the recipe
# versions: <0.5
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sized():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.set_data_parallel_size()
    return cfg
