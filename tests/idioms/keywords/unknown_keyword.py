# idiom: a keyword that no release knows
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def wrong():  # recipe
    return llama3_8b_pretrain_config(use_fsdp=True)  # decides: TypeError
