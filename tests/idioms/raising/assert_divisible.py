# idiom: an assertion about the number of GPUs from the environment
import os

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def asserted():  # recipe
    cfg = llama3_8b_pretrain_config()
    gpus = int(os.environ.get("WORLD_SIZE", "8"))
    assert gpus % cfg.model.tensor_model_parallel_size == 0, "GPUs do not fit"
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
