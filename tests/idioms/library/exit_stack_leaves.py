# idiom: an ExitStack of generator contexts takes its changes back
# versions: >=0.3,<0.5
from contextlib import ExitStack, contextmanager

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@contextmanager
def patched(section, **values):
    before = {name: getattr(section, name) for name in values}
    for name, value in values.items():
        setattr(section, name, value)
    yield section
    for name, value in before.items():
        setattr(section, name, value)


def measured():  # recipe
    cfg = llama3_8b_pretrain_config()
    with ExitStack() as stack:
        ddp = stack.enter_context(patched(cfg.ddp, use_megatron_fsdp=True))
        stack.callback(print, "measured", ddp.use_megatron_fsdp)
        cfg.train.global_batch_size = 64
    return cfg


def kept():  # recipe
    cfg = llama3_8b_pretrain_config()
    stack = ExitStack()
    stack.enter_context(patched(cfg.ddp, use_megatron_fsdp=True))
    stack.enter_context(
        patched(
            cfg.checkpoint,
            ckpt_format="torch_dist",  # decides: MFSDP101
        )
    )
    return cfg
