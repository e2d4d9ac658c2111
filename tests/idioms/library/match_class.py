# idiom: a match statement on the class of an option
from dataclasses import dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Sharded:
    strategy: str


@dataclass
class Replicated:
    pass


def apply(cfg, how):
    match how:
        case Sharded(strategy=strategy):
            cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
            cfg.ddp.data_parallel_sharding_strategy = strategy
        case Replicated():
            cfg.ddp.use_megatron_fsdp = False


def sharded():  # recipe
    cfg = llama3_8b_pretrain_config()
    apply(cfg, Sharded("optim_grads"))
    return cfg
