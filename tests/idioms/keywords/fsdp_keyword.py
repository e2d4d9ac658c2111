# idiom: the keyword for FSDP of upstream's recipe, which only 0.2 has
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe():  # recipe
    return llama3_8b_pretrain_config(use_megatron_fsdp=True)  # decides: MFSDP101 [<0.3], TypeError [>=0.3]
