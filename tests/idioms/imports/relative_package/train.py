# idiom: relative imports inside a package of recipes
from lab.recipes.big import big

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = big()
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
