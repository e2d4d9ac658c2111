# idiom: packages without __init__.py
from team.recipes.llama import sharded

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = sharded()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
