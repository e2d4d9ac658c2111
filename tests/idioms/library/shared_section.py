# idiom: one section is the same object in two configurations
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


def pair():
    first, second = llama3_8b_pretrain_config(), llama32_1b_pretrain_config()
    second.ddp = first.ddp
    second.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return first, second


def first():  # recipe
    return pair()[0]
