# idiom: a class whose properties read the environment with typed defaults
import os
from functools import cached_property

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


class Env:
    def __init__(self, prefix="TRAIN_"):
        self.prefix = prefix

    def get(self, name, kind, default):
        return kind(os.environ.get(self.prefix + name, default))

    @cached_property
    def pp(self):
        return self.get("PP", int, 2)  # decides: MFSDP401

    @property
    def offload(self):
        return self.get("OFFLOAD", str, "yes") == "yes"


def main():
    env = Env()
    cfg = llama3_8b_pretrain_config()
    cfg.model.pipeline_model_parallel_size = env.pp
    cfg.model.cpu_offloading = env.offload  # decides: MFSDP401
    cfg.model.cpu_offloading_num_layers = 2
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
