# idiom: CPU offloading together with pipeline stages
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(pp=2):  # recipe; decides: MFSDP401
    cfg = llama3_8b_pretrain_config()
    cfg.model.cpu_offloading = True  # decides: MFSDP401
    cfg.model.cpu_offloading_num_layers = 4
    cfg.model.pipeline_model_parallel_size = pp
    return cfg
