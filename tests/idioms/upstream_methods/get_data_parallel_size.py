# idiom: the batch size follows from the data-parallel size
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def scaled():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    dp = cfg.get_data_parallel_size(64)
    cfg.train.global_batch_size = 8 * dp
    return cfg
