# idiom: an object that is called with the configuration
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Shard:
    def __init__(self, strategy):
        self.strategy = strategy

    def __call__(self, cfg):
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        cfg.ddp.data_parallel_sharding_strategy = self.strategy
        return cfg


def recipe():  # recipe
    return Shard("optim_grads")(llama3_8b_pretrain_config())
