# idiom: like upstream's run_recipe.py: the recipe by name, its arguments by inspect.signature
# argv: --recipe llama3_8b_pretrain_config
import argparse
import inspect

import megatron.bridge.recipes as recipes
from megatron.bridge.training.config import ConfigContainer
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

TRAIN = {"pretrain": pretrain, "finetune": finetune}


def load(name: str, seq_length: int | None) -> ConfigContainer:
    if not hasattr(recipes, name):
        raise AttributeError(f"Recipe '{name}' not found")
    builder = getattr(recipes, name)
    parameters = inspect.signature(builder).parameters
    kwargs = {}
    if "seq_length" in parameters and seq_length is not None:
        kwargs["seq_length"] = seq_length
    return builder(**kwargs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", default="llama3_8b_pretrain_config")
    parser.add_argument("--seq_length", type=int)
    args = parser.parse_args()
    cfg = load(args.recipe, args.seq_length)
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    mode = "pretrain" if "pretrain" in args.recipe else "finetune"
    TRAIN[mode](config=cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
