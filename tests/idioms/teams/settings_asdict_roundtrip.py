# idiom: settings go through asdict, are merged with |, and become an object again
from dataclasses import asdict, dataclass, replace

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass(frozen=True)
class Parallel:
    tp: int = 1
    pp: int = 1
    cp: int = 1
    fsdp: bool = False
    ckpt: str = "torch_dist"


CLUSTERS = {
    "a100": {"tp": 4},
    "h100": {"fsdp": True},  # decides: MFSDP101
}


def plan(cluster, **changes):
    return Parallel(**(asdict(Parallel()) | CLUSTERS[cluster] | changes))


def apply(cfg, parallel):
    cfg.model.tensor_model_parallel_size = parallel.tp
    cfg.model.pipeline_model_parallel_size = parallel.pp
    cfg.model.context_parallel_size = parallel.cp
    cfg.ddp.use_megatron_fsdp = parallel.fsdp
    cfg.checkpoint.ckpt_format = parallel.ckpt
    return cfg


def a100():  # recipe
    return apply(llama3_8b_pretrain_config(), plan("a100"))


def h100():  # recipe
    return apply(llama3_8b_pretrain_config(), plan("h100"))


def h100_right():  # recipe
    return apply(llama3_8b_pretrain_config(), replace(plan("h100"), ckpt="fsdp_dtensor"))
