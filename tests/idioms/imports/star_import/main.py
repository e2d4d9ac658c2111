# idiom: a star import of helpers and of upstream's recipes
from helpers import *
from megatron.bridge.recipes.llama import *

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = shard(llama3_8b_pretrain_config(), STRATEGY)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
