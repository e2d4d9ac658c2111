# idiom: a pipeline of tweaks, composed with reduce from partials and lambdas
from functools import partial, reduce

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def compose(*steps):
    return reduce(lambda first, second: lambda x: second(first(x)), steps, lambda x: x)


def put(cfg, *, section, **values):
    for name, value in values.items():
        setattr(getattr(cfg, section), name, value)
    return cfg


short_run = partial(put, section="train", train_iters=100, global_batch_size=32)
fsdp = partial(put, section="ddp", use_megatron_fsdp=True)  # decides: MFSDP101
right_format = partial(put, section="checkpoint", ckpt_format="fsdp_dtensor")


def forgotten():  # recipe
    return compose(short_run, fsdp)(llama3_8b_pretrain_config())


def complete():  # recipe
    return compose(short_run, fsdp, right_format)(llama3_8b_pretrain_config())
