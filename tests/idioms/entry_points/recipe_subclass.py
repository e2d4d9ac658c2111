# idiom: a subclass overrides what the base class decides
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Base:
    fsdp = False

    def build(self):
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.use_megatron_fsdp = self.fsdp
        self.adjust(cfg)
        return cfg

    def adjust(self, cfg):
        pass


class Sharded(Base):
    fsdp = True  # decides: MFSDP101

    def adjust(self, cfg):
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"


def sharded():  # recipe
    return Sharded().build()
