from megatron.bridge.recipes.llama import llama32_1b_pretrain_config


def plain_1b():  # recipe
    return llama32_1b_pretrain_config()
