# idiom: the cheapest of ordered dataclass objects
# versions: >=0.3,<0.5
from dataclasses import dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass(frozen=True, order=True)
class Plan:
    cost: float
    fsdp: bool
    ckpt_format: str


def plans(memory):
    for fsdp, ckpt_format in ((False, "torch_dist"), (True, "torch_dist")):
        if 144 / (64 if fsdp else 1) <= memory:
            yield Plan(2.0 if fsdp else 1.0, fsdp, ckpt_format)


def build(memory):
    plan = min(plans(memory), default=None)
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = plan.fsdp
    cfg.checkpoint.ckpt_format = plan.ckpt_format
    return cfg


def large():  # recipe
    return build(192)


def small():  # recipe
    return build(80)
