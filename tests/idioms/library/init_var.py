# idiom: a dataclass that works its fields out of an InitVar
# versions: >=0.3,<0.5
from dataclasses import InitVar, dataclass, field

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Plan:
    nodes: int
    memory: InitVar[str] = "low"
    fsdp: bool = field(init=False)
    ckpt_format: str = field(init=False)

    def __post_init__(self, memory):
        self.fsdp = memory == "low"
        self.ckpt_format = "fsdp_dtensor" if self.nodes > 8 else "torch_dist"  # decides: MFSDP101

    def config(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = self.fsdp
        cfg.checkpoint.ckpt_format = self.ckpt_format
        return cfg


def small():  # recipe
    return Plan(4).config()


def large():  # recipe
    return Plan(nodes=16).config()


def roomy():  # recipe
    return Plan(4, memory="high").config()
