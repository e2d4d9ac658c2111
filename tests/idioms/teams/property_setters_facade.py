# idiom: a facade whose property setters write several settings
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Facade:
    def __init__(self, cfg):
        self._cfg = cfg

    @property
    def sharding(self):
        return self._cfg.ddp.data_parallel_sharding_strategy if self._cfg.ddp.use_megatron_fsdp else None

    @sharding.setter
    def sharding(self, strategy):
        self._cfg.ddp.use_megatron_fsdp = strategy is not None
        if strategy is not None:
            self._cfg.ddp.data_parallel_sharding_strategy = strategy
            self._cfg.checkpoint.ckpt_format = "fsdp_dtensor"

    def __getattr__(self, name):
        return getattr(self._cfg, name)

    def unwrap(self):
        return self._cfg


def recipe():  # recipe
    facade = Facade(llama3_8b_pretrain_config())
    facade.sharding = "no_shard"  # decides: MFSDP301
    facade.train.train_iters = 3
    return facade.unwrap()


def right():  # recipe
    facade = Facade(llama3_8b_pretrain_config())
    facade.sharding = "optim_grads_params"
    return facade.unwrap()
