# idiom: a loop over changes with a progress bar
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from tqdm import tqdm


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in tqdm([("use_megatron_fsdp", True)], disable=True):  # decides: MFSDP101
        setattr(cfg.ddp, name, value)
    return cfg
