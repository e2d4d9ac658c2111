# idiom: a decorator that takes the strategy
import functools

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded(strategy):
    def decorate(build):
        @functools.wraps(build)
        def wrapped(**kwargs):
            cfg = build(**kwargs)
            cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
            cfg.ddp.data_parallel_sharding_strategy = strategy
            return cfg

        return wrapped

    return decorate


@sharded("optim_grads")
def zero2():  # recipe
    return llama3_8b_pretrain_config()


@sharded("optim_grads_params")
def zero3():  # recipe
    return llama3_8b_pretrain_config()
