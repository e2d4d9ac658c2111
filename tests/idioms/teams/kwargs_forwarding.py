# idiom: *args and **kwargs are forwarded through three helpers
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def make(factory, *args, **kwargs):
    sections = kwargs.pop("sections", {})
    cfg = factory(*args, **kwargs)
    for section, values in sections.items():
        update(getattr(cfg, section), **values)
    return cfg


def update(target, /, **values):
    for name, value in values.items():
        if not hasattr(target, name):
            raise AttributeError(name)
        setattr(target, name, value)


def with_fsdp(*args, ckpt="torch_dist", **kwargs):  # decides: MFSDP101
    sections = {"ddp": dict(use_megatron_fsdp=True), "checkpoint": dict(ckpt_format=ckpt)}  # decides: MFSDP101
    return make(*args, sections=sections, **kwargs)


def recipe():  # recipe
    return with_fsdp(llama3_8b_pretrain_config)


def right():  # recipe
    return with_fsdp(llama3_8b_pretrain_config, ckpt="fsdp_dtensor")
