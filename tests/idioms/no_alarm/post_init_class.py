# idiom: a dataclass whose __post_init__ works the format out
from dataclasses import dataclass

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Options:
    fsdp: bool = True
    format: str = ""

    def __post_init__(self):
        if not self.format:
            self.format = "fsdp_dtensor" if self.fsdp else "torch_dist"


def recipe():  # recipe
    options = Options()
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = options.fsdp
    cfg.checkpoint.ckpt_format = options.format
    return cfg
