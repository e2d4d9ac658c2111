# idiom: an enum with behaviour decides which kind of data parallelism is set up
from enum import Enum, auto

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class DataParallel(Enum):
    DDP = auto()
    ZERO1 = auto()
    FSDP = auto()

    @property
    def strategy(self):
        return {DataParallel.DDP: "no_shard", DataParallel.ZERO1: "optim", DataParallel.FSDP: "optim_grads_params"}[self]

    @classmethod
    def parse(cls, text):
        return cls[text.upper().replace("-", "")]

    def apply(self, cfg):
        if self is DataParallel.FSDP:
            cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
            cfg.ddp.data_parallel_sharding_strategy = self.strategy
        else:
            cfg.ddp.use_distributed_optimizer = self is not DataParallel.DDP
        return cfg


def sharded():  # recipe
    return DataParallel.parse("fsdp").apply(llama3_8b_pretrain_config())


def zero1():  # recipe
    return DataParallel.parse("zero-1").apply(llama3_8b_pretrain_config())
