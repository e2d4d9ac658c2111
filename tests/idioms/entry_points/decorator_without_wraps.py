# idiom: a decorator without functools.wraps
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def with_format(build):
    def inner():
        cfg = build()
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
        return cfg

    return inner


@with_format
def base():  # recipe
    return llama3_8b_pretrain_config()
