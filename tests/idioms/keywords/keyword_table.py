# idiom: a table of keywords for upstream's recipe
# versions: <0.3
from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config

KEYWORDS = {
    "tensor_model_parallel_size": 1,
    "use_megatron_fsdp": True,  # decides: MFSDP101
    "global_batch_size": 128,
}


def recipe():  # recipe
    return qwen3_8b_pretrain_config(**KEYWORDS)
