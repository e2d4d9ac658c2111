# idiom: a package re-exports its recipes
import recipes

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = recipes.sharded()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
