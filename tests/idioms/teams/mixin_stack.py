# idiom: cooperative mixins that each do their part through super()
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config


class Recipe:
    def base(self):
        raise NotImplementedError

    def configure(self):
        return self.base()


class FsdpMixin:
    strategy = "optim_grads_params"

    def configure(self):
        cfg = super().configure()
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.ddp.data_parallel_sharding_strategy = self.strategy
        return cfg


class DtensorMixin:
    def configure(self):
        cfg = super().configure()
        cfg.checkpoint.ckpt_format = "fsdp_dtensor"
        return cfg


class ShortMixin:
    @property
    def iters(self):
        return 10 * self.scale

    scale = 1

    def configure(self):
        cfg = super().configure()
        cfg.train.train_iters = self.iters
        return cfg


class Llama8b(ShortMixin, FsdpMixin, Recipe):
    scale = 5
    base = staticmethod(llama3_8b_pretrain_config)


class Llama1b(ShortMixin, DtensorMixin, FsdpMixin, Recipe):
    def base(self):
        return llama32_1b_pretrain_config()


def big():  # recipe
    return Llama8b().configure()


def small():  # recipe
    return Llama1b().configure()
