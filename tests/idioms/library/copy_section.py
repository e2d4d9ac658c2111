# idiom: one section shared by two recipes, and then copied
import copy

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


def pair():
    first, second = llama3_8b_pretrain_config(), llama32_1b_pretrain_config()
    second.ddp = copy.copy(first.ddp)
    second.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return first, second


def first():  # recipe
    return pair()[0]


def second():  # recipe
    return pair()[1]
