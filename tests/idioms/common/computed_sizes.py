# idiom: sizes worked out from each other
import math

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(gpus=64):  # recipe
    cfg = llama3_8b_pretrain_config()
    tp = 2 ** int(math.log2(min(gpus, 8)) - 1)
    cfg.model.tensor_model_parallel_size = tp
    cfg.model.context_parallel_size = max(1, gpus // 64)
    cfg.train.global_batch_size = (gpus // tp) * 16
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
