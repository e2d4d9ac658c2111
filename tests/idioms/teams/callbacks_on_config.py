# idiom: callback objects are handed the config before the launch
from abc import ABC
from collections.abc import Iterable

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import ConfigContainer
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class ConfigCallback(ABC):
    priority = 0

    def on_config(self, cfg: ConfigContainer) -> None:
        pass


class Short(ConfigCallback):
    def __init__(self, iters=10):
        self.iters = iters

    def on_config(self, cfg):
        cfg.train.train_iters = self.iters


class Shard(ConfigCallback):
    priority = 10

    def on_config(self, cfg):
        cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101


class Guard(ConfigCallback):
    priority = 5

    def on_config(self, cfg):
        if cfg.ddp.use_megatron_fsdp and cfg.model.pipeline_model_parallel_size > 1:
            raise ValueError("no")


def fit(cfg: ConfigContainer, callbacks: Iterable[ConfigCallback] = ()):
    for callback in sorted(callbacks, key=lambda each: -each.priority):
        callback.on_config(cfg)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    fit(llama3_8b_pretrain_config(), callbacks=[Short(), Guard(), Shard()])
