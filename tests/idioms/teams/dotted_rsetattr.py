# idiom: rgetattr and rsetattr with reduce and dotted paths
import functools

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def rgetattr(obj, path):
    return functools.reduce(getattr, path.split("."), obj)


def rsetattr(obj, path, value):
    pre, _, post = path.rpartition(".")
    return setattr(rgetattr(obj, pre) if pre else obj, post, value)


TWEAKS = [
    ("train.train_iters", 100),
    ("ddp.use_megatron_fsdp", True),  # decides: MFSDP101
    ("ddp.data_parallel_sharding_strategy", "optim_grads_params"),
]


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    for path, value in TWEAKS:
        old = rgetattr(cfg, path)
        rsetattr(cfg, path, value)
        print(f"{path}: {old} -> {rgetattr(cfg, path)}")
    return cfg
