# idiom: CPU offloading together with recomputation
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model.cpu_offloading = True  # decides: MFSDP401
    cfg.model.cpu_offloading_num_layers = 16
    cfg.model.recompute_granularity = "full"  # decides: MFSDP401
    cfg.model.recompute_method = "uniform"
    cfg.model.recompute_num_layers = 1
    return cfg
