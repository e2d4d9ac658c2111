# idiom: OmegaConf.structured merged with a dot list, back to an object
# versions: >=0.3,<0.5
from dataclasses import dataclass, field

from omegaconf import OmegaConf

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Shard:
    on: bool = False
    fmt: str = "torch_dist"  # decides: MFSDP101


@dataclass
class Job:
    shard: Shard = field(default_factory=Shard)
    pp: int = 1
    stages: int = 1


OVERRIDES = [
    "shard.on=true",
    "pp=1",
]


def sharded():  # recipe
    job = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Job), OmegaConf.from_dotlist(OVERRIDES)))
    cfg = llama3_8b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = job.stages
    cfg.ddp.use_megatron_fsdp = job.shard.on
    cfg.checkpoint.ckpt_format = job.shard.fmt
    return cfg
