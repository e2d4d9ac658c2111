# idiom: a positional argument where upstream takes none
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    return llama3_8b_pretrain_config("run-1")  # decides: TypeError
