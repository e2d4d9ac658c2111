# idiom: an attrs class with factory defaults, a converter, and evolve
# versions: >=0.3,<0.5
import attrs
from attrs import define, field

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def _lower(value):
    return value.lower()


@define(frozen=True)
class Plan:
    fsdp: bool = field(default=False)
    ckpt: str = field(default="TORCH_DIST", converter=_lower)  # decides: MFSDP101
    pipeline: int = 1
    layers: list = field(factory=lambda: [1, 2, 3])

    @property
    def offloaded(self):
        return len(self.layers)


BASE = Plan()
FSDP = attrs.evolve(BASE, fsdp=True)  # decides: MFSDP101


def apply(plan, cfg):
    cfg.ddp.use_megatron_fsdp = plan.fsdp
    cfg.checkpoint.ckpt_format = plan.ckpt
    cfg.model.pipeline_model_parallel_size = plan.pipeline
    cfg.train.train_iters = plan.offloaded
    return cfg


def fsdp_pretrain():  # recipe
    return apply(FSDP, llama3_8b_pretrain_config())


def plain_pretrain():  # recipe
    return apply(BASE, llama3_8b_pretrain_config())
