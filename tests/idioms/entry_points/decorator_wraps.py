# idiom: a decorator with functools.wraps that turns FSDP on
import functools

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def with_fsdp(build):
    @functools.wraps(build)
    def wrapped(*args, **kwargs):
        cfg = build(*args, **kwargs)
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        return cfg

    return wrapped


@with_fsdp
def base():  # recipe
    return llama3_8b_pretrain_config()
