# idiom: a pipeline layout of one's own
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def staged():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_layout = [["embedding"] + ["decoder"] * 16, ["decoder"] * 16 + ["loss"]]
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
    return cfg
