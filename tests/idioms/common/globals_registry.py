# idiom: recipes of this module found by their names in globals()
# versions: >=0.3,<0.5
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def recipe_dense():
    return llama32_1b_pretrain_config()


def recipe_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


RECIPES = {name.removeprefix("recipe_"): f for name, f in list(globals().items()) if name.startswith("recipe_")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", choices=sorted(RECIPES), default="fsdp")
    args = parser.parse_args()
    pretrain(RECIPES[args.recipe](), forward_step)  # launch


if __name__ == "__main__":
    main()
