"""Behaviour of scripts/training/run_recipe.py of Megatron-Bridge with a recipe for pretraining: 0.3.0 (lines 88 to 247), 0.4.2
(141 to 336) and 0.5.1.

A recipe of the library by its name, called without arguments; then the overrides; then the
launch. Flags that it does not have here end it.
"""

import argparse

import megatron.bridge.recipes as recipes
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
from not_described import left_open

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--mode")
    parser.add_argument("--dataset")
    parser.add_argument("--step_func")
    args, overrides = parser.parse_known_args()
    for override in overrides:
        if override.startswith("-"):
            parser.error(override)
    if "pretrain" not in args.recipe:
        raise SystemExit("how it is called depends on more than its name")
    builder = getattr(recipes, args.recipe, None)
    if builder is None:
        raise AttributeError(f"Recipe '{args.recipe}' not found in megatron.bridge.recipes.")
    config = builder()
    if args.dataset is not None:
        config.dataset = left_open()
    config = process_config_with_overrides(config, cli_overrides=overrides or None)
    pretrain(config, forward_step)


if __name__ == "__main__":
    main()
