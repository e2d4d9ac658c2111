# idiom: a mixture of experts with FSDP and expert parallelism
from megatron.bridge.recipes.qwen import qwen3_30b_a3b_pretrain_config


def moe():  # recipe
    cfg = qwen3_30b_a3b_pretrain_config()
    cfg.model.tensor_model_parallel_size = 1
    cfg.model.sequence_parallel = False
    cfg.model.pipeline_model_parallel_size = 1
    cfg.model.expert_model_parallel_size = 8
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
