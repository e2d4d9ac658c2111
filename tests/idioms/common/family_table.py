# idiom: a table of a family of models
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config

FAMILY = {
    "1b": (llama32_1b_pretrain_config, 1, False),
    "8b": (llama3_8b_pretrain_config, 2, True),  # decides: MFSDP101
}


def build(size):
    base, tp, fsdp = FAMILY[size]
    cfg = base()
    cfg.model.tensor_model_parallel_size = tp
    cfg.ddp.use_megatron_fsdp = fsdp
    return cfg


def small():  # recipe
    return build("1b")


def large():  # recipe
    return build("8b")
