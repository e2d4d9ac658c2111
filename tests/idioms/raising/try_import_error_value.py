# idiom: a number that cannot be parsed falls back
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def parse(text):
    try:
        return int(text)
    except ValueError:
        return 1


def fallback():  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = parse("two")
    cfg.model.sequence_parallel = True
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg
