# idiom: a string enum and a match statement with guards choose torch FSDP2 by mistake
from enum import Enum

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Backend(str, Enum):
    TORCH = "torch"
    MEGATRON = "megatron"
    NONE = "none"


def sharded(cfg, backend, pp=1):
    match backend:
        case Backend.MEGATRON if pp == 1:
            cfg.ddp.use_megatron_fsdp = True
            cfg.checkpoint.ckpt_format = "fsdp_dtensor"
        case Backend.TORCH | Backend.MEGATRON:
            cfg.dist.use_torch_fsdp2 = True  # decides: MFSDP202
            cfg.checkpoint.ckpt_format = "torch_dist"
        case _:
            pass
    return cfg


def recipe():  # recipe
    return sharded(llama3_8b_pretrain_config(), Backend("torch"))


def right():  # recipe
    return sharded(llama3_8b_pretrain_config(), Backend("megatron"))


def plain():  # recipe
    return sharded(llama3_8b_pretrain_config(), Backend.NONE)
