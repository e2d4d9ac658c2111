# idiom: a decorator that registers recipes by name
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config

RECIPES = {}


def register(name):
    def decorate(build):
        RECIPES[name] = build
        return build

    return decorate


@register("small")
def small_fsdp():  # recipe
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


@register("base")
def base():  # recipe
    return llama3_8b_pretrain_config()
