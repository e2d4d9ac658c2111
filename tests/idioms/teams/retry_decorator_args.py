# idiom: decorators with arguments around the builder: timing, retry, and a patch after it
import functools
import time

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def retry(times=3, exceptions=(OSError,)):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, **kwargs)
                except exceptions:
                    if attempt == times - 1:
                        raise
                    time.sleep(2**attempt)

        return wrapper

    return decorate


def afterwards(**changes):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            cfg = function(*args, **kwargs)
            for path, value in changes.items():
                section, name = path.split("__")
                setattr(getattr(cfg, section), name, value)
            return cfg

        return wrapper

    return decorate


@retry(times=2)
@afterwards(ddp__use_megatron_fsdp=True, train__train_iters=9)  # decides: MFSDP101
def recipe():  # recipe
    return llama3_8b_pretrain_config()
