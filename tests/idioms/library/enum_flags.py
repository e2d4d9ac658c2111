# idiom: an enum.Flag of features, each with an action in a dispatch table
# versions: >=0.3,<0.5
from enum import Flag, auto

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Feature(Flag):
    NONE = 0
    FSDP = auto()
    DTENSOR = auto()
    OFFLOAD = auto()
    ZERO3 = FSDP | DTENSOR


def fsdp(cfg):
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101


def dtensor(cfg):
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"


def offload(cfg):
    cfg.model.cpu_offloading = True
    cfg.model.cpu_offloading_num_layers = 2


ACTIONS = {Feature.FSDP: fsdp, Feature.DTENSOR: dtensor, Feature.OFFLOAD: offload}


def build(features):
    cfg = llama3_8b_pretrain_config()
    for feature, action in ACTIONS.items():
        if feature in features:
            action(cfg)
    return cfg


def only_fsdp():  # recipe
    return build(Feature.FSDP)


def zero3():  # recipe
    return build(Feature.ZERO3)
