"""Behaviour of scripts/training/run_recipe.py of Megatron-Bridge with a recipe for pretraining: 0.6.0, lines 84 to 520.

A recipe of the library by its name, called without arguments; then flags that are overrides (COMMON_OVERRIDE_FIELDS); then the overrides; then the
launch. Flags that it does not have here end it.
"""

import argparse

import megatron.bridge.recipes as recipes
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

FIELDS = {
    "max_steps": "train.train_iters",
    "global_batch_size": "train.global_batch_size",
    "micro_batch_size": "train.micro_batch_size",
    "tensor_model_parallel_size": "model.tensor_model_parallel_size",
    "pipeline_model_parallel_size": "model.pipeline_model_parallel_size",
    "context_parallel_size": "model.context_parallel_size",
    "virtual_pipeline_model_parallel_size": "model.virtual_pipeline_model_parallel_size",
    "expert_model_parallel_size": "model.expert_model_parallel_size",
    "expert_tensor_parallel_size": "model.expert_tensor_parallel_size",
    "pretrained_checkpoint": "checkpoint.pretrained_checkpoint",
    "save_dir": "checkpoint.save",
    "load_dir": "checkpoint.load",
    "save_interval": "checkpoint.save_interval",
}


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--mode")
    parser.add_argument("--dataset")
    parser.add_argument("--step_func", "--step-func", dest="step_func")
    parser.add_argument("-ms", "--max_steps")
    parser.add_argument("-gb", "--global_batch_size")
    parser.add_argument("-mb", "--micro_batch_size")
    parser.add_argument("-tp", "--tensor_model_parallel_size")
    parser.add_argument("-pp", "--pipeline_model_parallel_size")
    parser.add_argument("-cp", "--context_parallel_size")
    parser.add_argument("-vp", "--virtual_pipeline_model_parallel_size")
    parser.add_argument("-ep", "--expert_model_parallel_size")
    parser.add_argument("-etp", "--expert_tensor_parallel_size")
    parser.add_argument("--pretrained_checkpoint")
    parser.add_argument("--save_dir")
    parser.add_argument("--load_dir")
    parser.add_argument("--save_interval")
    parser.add_argument("--deterministic", action="store_true")
    args, overrides = parser.parse_known_args()
    for override in overrides:
        if override.startswith("-"):
            parser.error(override)
    common = [f"{field}={getattr(args, name)}" for name, field in FIELDS.items() if getattr(args, name) is not None]
    if "pretrain" not in args.recipe:
        raise SystemExit("how it is called depends on more than its name")
    config = getattr(recipes, args.recipe)()
    if args.dataset is not None:
        config.dataset = parser.of_that_kind
    config = process_config_with_overrides(config, cli_overrides=[*common, *overrides] or None)
    pretrain(config, forward_step)


if __name__ == "__main__":
    main()
