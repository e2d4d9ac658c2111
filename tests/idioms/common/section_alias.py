# idiom: a section under a short name
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    ddp, ckpt, model = cfg.ddp, cfg.checkpoint, cfg.model
    ddp.use_megatron_fsdp = True  # decides: MFSDP101
    model.tensor_model_parallel_size, model.sequence_parallel = 2, True
    ckpt.save_interval = 10
    return cfg
