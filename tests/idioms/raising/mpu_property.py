# idiom: a property of the user's own wraps a section
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Knobs:
    def __init__(self, cfg):
        self.cfg = cfg

    @property
    def fsdp(self):
        return self.cfg.ddp.use_megatron_fsdp

    @fsdp.setter
    def fsdp(self, value):
        self.cfg.ddp.use_megatron_fsdp = value


def knobs():  # recipe
    cfg = llama3_8b_pretrain_config()
    Knobs(cfg).fsdp = True  # decides: MFSDP101
    return cfg
