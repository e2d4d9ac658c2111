# idiom: changes that say behind which others they run
# versions: >=0.3,<0.5
from graphlib import TopologicalSorter

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

CHANGES = {}


def change(*, after=()):
    def register(function):
        CHANGES[function.__name__] = (function, set(after))
        return function

    return register


@change(after=["storage"])
def sharding(cfg):
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"


@change()
def storage(cfg):
    cfg.checkpoint.ckpt_format = "torch_dist"


@change(after=["sharding"])
def mapping(cfg):
    cfg.dist.use_tp_pp_dp_mapping = True  # decides: MFSDP302


def ordered():  # recipe
    cfg = llama3_8b_pretrain_config()
    for name in TopologicalSorter({name: after for name, (_, after) in CHANGES.items()}).static_order():
        CHANGES[name][0](cfg)
    return cfg
