# idiom: OmegaConf.structured of the user's own dataclass, merged with a dot list
from dataclasses import dataclass, field

from omegaconf import OmegaConf

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Sharding:
    fsdp: bool = False
    strategy: str = "optim_grads_params"


@dataclass
class Run:
    iters: int = 100
    sharding: Sharding = field(default_factory=Sharding)


def settings(*changes):
    return OmegaConf.merge(OmegaConf.structured(Run), OmegaConf.from_dotlist(list(changes)))


def build(run):
    cfg = llama3_8b_pretrain_config()
    cfg.train.train_iters = run.iters
    cfg.ddp.use_megatron_fsdp = run.sharding.fsdp
    cfg.ddp.data_parallel_sharding_strategy = run.sharding.strategy
    return cfg


def sharded():  # recipe
    return build(settings("sharding.fsdp=true", "iters=7"))  # decides: MFSDP101


def plain():  # recipe
    return build(settings())
