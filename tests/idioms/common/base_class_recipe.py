# idiom: an abstract base class whose subclasses say the sizes
from abc import ABC, abstractmethod

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


class Recipe(ABC):
    tp = 1

    @abstractmethod
    def base(self): ...

    def build(self):
        cfg = self.base()
        cfg.model.tensor_model_parallel_size = self.tp
        return cfg


class Small(Recipe):
    def base(self):
        return llama32_1b_pretrain_config()


class Large(Recipe):
    tp = 4

    def base(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        return cfg


def small():  # recipe
    return Small().build()


def large():  # recipe
    return Large().build()
