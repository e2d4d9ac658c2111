# idiom: a keyword that is misspelt
# versions: <0.3
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    return llama3_8b_pretrain_config(tensor_parallel_size=2)  # decides: TypeError
