# idiom: layers of dictionaries are merged deeply, then applied recursively
from collections.abc import Mapping

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CLUSTER = {"ddp": {"overlap_grad_reduce": True, "use_megatron_fsdp": True}}  # decides: MFSDP101
TEAM = {"train": {"train_iters": 200}, "checkpoint": {"save_interval": 100}}
PERSON = {"train": {"micro_batch_size": 2}, "ddp": {"overlap_param_gather": True}}


def merged(*layers):
    out = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(out.get(key), dict):
                out[key] = merged(out[key], value)
            else:
                out[key] = value
    return out


def apply(target, changes):
    for key, value in changes.items():
        if isinstance(value, dict):
            apply(getattr(target, key), value)
        else:
            setattr(target, key, value)


def recipe():  # recipe
    cfg = llama3_8b_pretrain_config()
    apply(cfg, merged(CLUSTER, TEAM, PERSON))
    return cfg
