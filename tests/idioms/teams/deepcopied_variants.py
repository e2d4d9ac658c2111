# idiom: a module-level base, deep-copied for each variant in a dict comprehension
from copy import deepcopy

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

BASE = llama3_8b_pretrain_config()
BASE.checkpoint.ckpt_format = "fsdp_dtensor"

VARIANTS = {
    "fsdp": {"ddp.use_megatron_fsdp": True},
    "plain": {"checkpoint.ckpt_format": "torch_dist"},
    "wrong": {},  # the base's format stays
}


def variant(changes):
    cfg = deepcopy(BASE)
    for path, value in changes.items():
        head, _, name = path.rpartition(".")
        setattr(getattr(cfg, head), name, value)
    return cfg


CONFIGS = {name: variant(changes) for name, changes in VARIANTS.items()}


def fsdp():  # recipe
    return CONFIGS["fsdp"]


def plain():  # recipe
    return CONFIGS["plain"]


def wrong():  # recipe; decides: MFSDP102 at deepcopied_variants.py:7
    return CONFIGS["wrong"]
