# idiom: a subclass calls the base class and changes the result
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Base:
    def build(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads"
        return cfg


class Sharded(Base):
    def build(self):
        cfg = super().build()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        return cfg


def sharded():  # recipe
    return Sharded().build()
