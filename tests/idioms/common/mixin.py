# idiom: a mixin that shards
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class ShardMixin:
    def adjust(self, cfg):
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101


class Plain:
    def adjust(self, cfg):
        cfg.ddp.use_megatron_fsdp = False

    def build(self):
        cfg = llama3_8b_pretrain_config()
        self.adjust(cfg)
        return cfg


class Sharded(ShardMixin, Plain):
    pass


def sharded():  # recipe
    return Sharded().build()


def plain():  # recipe
    return Plain().build()
