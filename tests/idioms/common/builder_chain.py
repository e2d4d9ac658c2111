# idiom: a builder with methods that return itself
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


class Builder:
    def __init__(self, cfg):
        self._cfg = cfg

    def fsdp(self, strategy="optim_grads_params"):
        self._cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
        self._cfg.ddp.data_parallel_sharding_strategy = strategy
        return self

    def tp(self, size):
        self._cfg.model.tensor_model_parallel_size = size
        return self

    def done(self):
        return self._cfg


def recipe():  # recipe
    return Builder(llama3_8b_pretrain_config()).fsdp().tp(2).done()
