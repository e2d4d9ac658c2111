# idiom: names and values zipped into a dictionary
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

NAMES = ("use_megatron_fsdp", "average_in_collective")
VALUES = (True, False)  # decides: MFSDP101


def zipped():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name, value in dict(zip(NAMES, VALUES)).items():
        setattr(cfg.ddp, name, value)
    return cfg
