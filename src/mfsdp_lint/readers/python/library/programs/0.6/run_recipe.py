"""Behaviour of scripts/training/run_recipe.py of Megatron-Bridge, with recipe_runner.py and recipe_metadata.py beside it: 0.6.0, lines 84 to 520.

A recipe by its name, or by that of its model and the mode; then flags that are overrides (COMMON_OVERRIDE_FIELDS); then the overrides; then the
launch. A recipe of megatron.bridge.perf_recipes comes before one of the library, and has defaults of its own. Flags that the program does not have end
it. It also has those of setup_experiment.py beside it, which hands the others on (0.6.0, lines 60 to 140).
"""

import argparse
import importlib
import os
import re

import megatron.bridge.recipes as recipes
from megatron.bridge.data.builders import GPTSFTDatasetConfig
from megatron.bridge.training.config import GPTDatasetConfig, MockGPTDatasetConfig
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
from not_described import left_open

FIELDS = {
    "max_steps": "train.train_iters",
    "global_batch_size": "train.global_batch_size",
    "micro_batch_size": "train.micro_batch_size",
    "seq_length": "dataset.seq_length",
    "tensor_model_parallel_size": "model.tensor_model_parallel_size",
    "pipeline_model_parallel_size": "model.pipeline_model_parallel_size",
    "context_parallel_size": "model.context_parallel_size",
    "virtual_pipeline_model_parallel_size": "model.virtual_pipeline_model_parallel_size",
    "expert_model_parallel_size": "model.expert_model_parallel_size",
    "expert_tensor_parallel_size": "model.expert_tensor_parallel_size",
    "lr": "optimizer.lr",
    "min_lr": "optimizer.min_lr",
    "warmup_iters": "scheduler.lr_warmup_iters",
    "pretrained_checkpoint": "checkpoint.pretrained_checkpoint",
    "save_dir": "checkpoint.save",
    "load_dir": "checkpoint.load",
    "save_interval": "checkpoint.save_interval",
}
FAMILIES = ("deepseek", "glm_moe_dsa", "gpt_oss", "kimi", "llama", "nemotronh", "qwen", "qwen_vl", "wan")
BENCHMARK = re.compile(r"_(pretrain|sft|peft)_([1-9][0-9]*)gpu_[a-z0-9]+_(bf16|fp8cs|fp8ds|fp8mx|fp8sc|nvfp4)(?:_[a-z0-9_]+)?_config$")
PEFT = ("lora", "dora")
OF_PRETRAINING = ("mock", "megatron-indexed")
OF_TEXT = ("squad", "tulu3", "openmathinstruct2", "openmathinstruct2-thinking", "gsm8k", "local-jsonl")
OF_EXPERIMENT = (
    "--nodes", "--gpus-per-node", "--gpus_per_node", "--account", "--partition", "--time", "--gres", "--additional-slurm-params",
    "--additional_slurm_params", "--container-image", "--mount", "--srun-arg", "-lmc", "--peak-mem-clk", "--peak_mem_clk", "--experiment-name",
)
SWITCHES_OF_EXPERIMENT = ("--no-gpu-resource-request", "--submission-dry-run", "--dry-run", "--dry_run", "--wait")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--recipe")
    parser.add_argument("--model")
    parser.add_argument("--mode")
    parser.add_argument("--dataset")
    parser.add_argument("--step_func", "--step-func", dest="step_func")
    parser.add_argument("-ms", "--max_steps")
    parser.add_argument("-gb", "--global_batch_size")
    parser.add_argument("-mb", "--micro_batch_size")
    parser.add_argument("-sl", "--seq_length")
    parser.add_argument("-tp", "--tensor_model_parallel_size")
    parser.add_argument("-pp", "--pipeline_model_parallel_size")
    parser.add_argument("-cp", "--context_parallel_size")
    parser.add_argument("-vp", "--virtual_pipeline_model_parallel_size")
    parser.add_argument("-ep", "--expert_model_parallel_size")
    parser.add_argument("-etp", "--expert_tensor_parallel_size")
    parser.add_argument("--lr")
    parser.add_argument("--min_lr")
    parser.add_argument("--warmup_iters")
    parser.add_argument("--pretrained_checkpoint")
    parser.add_argument("--save_dir")
    parser.add_argument("--load_dir")
    parser.add_argument("--save_interval")
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--dump-env", "--dump_env", dest="dump_env", action="store_true")
    for option in OF_EXPERIMENT:
        parser.add_argument(option)
    for option in SWITCHES_OF_EXPERIMENT:
        parser.add_argument(option, action="store_true")
    parser.add_argument("--env", action="append", default=[])
    args, overrides = parser.parse_known_args()
    for each in args.env:
        if "=" in each:
            raise ValueError("--env accepts NAME only; export the value before launching to keep it out of arguments.")
    for override in overrides:
        if override.startswith("-"):
            parser.error(override)
    common = [f"{field}={getattr(args, name)}" for name, field in FIELDS.items() if getattr(args, name) is not None]
    overrides = [*common, *overrides]
    name = args.recipe or args.model + "_" + ("peft" if args.mode in PEFT else args.mode) + "_config"
    benchmark, builder = BENCHMARK.search(name), None
    for family in FAMILIES if benchmark else ():
        builder = builder or getattr(importlib.import_module("megatron.bridge.perf_recipes." + family), name, None)
    if builder is None:
        library(name, args, parser, overrides)
    else:
        measured(builder(), benchmark, args, parser, overrides)


def library(name, args, parser, overrides):
    builder = getattr(recipes, name, None)
    if builder is None:
        raise AttributeError(f"Recipe '{name}' not found in megatron.bridge.recipes or megatron.bridge.perf_recipes.")
    if args.mode in PEFT and "peft" in name:
        config = builder(peft_scheme=args.mode)
    else:
        config = builder()
    if args.dataset is not None:
        mode = args.mode or ("pretrain" if "pretrain" in name else "lora" if "peft" in name else "sft")
        if args.dataset in (OF_TEXT if mode == "pretrain" else OF_PRETRAINING):
            raise ValueError(f"Mode '{mode}' is incompatible with dataset '{args.dataset}'.")
        config.dataset = dataset_of(config, args.dataset)
    config = process_config_with_overrides(config, cli_overrides=overrides or None)
    if "pretrain" in name:
        pretrain(config, forward_step)
    else:
        if config.model.context_parallel_size > 1:
            config.model.calculate_per_token_loss = True
            config.ddp.average_in_collective = False
        finetune(config, forward_step)


def dataset_of(config, name):
    """Return the dataset of a preset (recipes/utils/dataset_utils.py, lines 351 to 490)."""
    if name in OF_PRETRAINING:
        kind = MockGPTDatasetConfig if name == "mock" else GPTDatasetConfig
        return kind(
            seq_length=config.model.seq_length,
            random_seed=1234,
            reset_attention_mask=False,
            reset_position_ids=False,
            eod_mask_loss=False,
            num_dataset_builder_threads=1,
            split="9999,8,2",
            data_sharding=True,
            dataloader_type="single",
            skip_getting_attention_mask_from_dataset=True,
        )
    if name in OF_TEXT:
        source = None if name == "local-jsonl" else left_open()
        return GPTSFTDatasetConfig(seq_length=config.model.seq_length, hf_dataset=source, seed=5678, dataloader_type="batch")
    return left_open()


def measured(config, benchmark, args, parser, overrides):
    task, gpus, precision = benchmark.groups()
    if args.mode not in (None, "lora" if task == "peft" else task):
        raise ValueError(f"Mode '{args.mode}' is incompatible with benchmark task '{task}'.")
    if args.dataset is not None:
        raise ValueError("Benchmark recipes own their canonical dataset; omit --dataset.")
    if task != "pretrain":
        config.dataset = left_open()
    canonical, batch = int(gpus) // ranks_of_model(config), config.train.global_batch_size
    config = process_config_with_overrides(config, cli_overrides=overrides or None)
    named = {each.lstrip("+~").partition("=")[0] for each in overrides}
    if not named & {"optimizer", "optimizer.use_precision_aware_optimizer"} and precision == "bf16" and config.optimizer.optimizer == "adam":
        config.optimizer.use_precision_aware_optimizer = True
    if not named & {"train", "train.global_batch_size"}:
        ranks = int(os.environ["WORLD_SIZE"]) // ranks_of_model(config)
        if ranks != canonical:
            config.train.global_batch_size = batch * ranks // canonical
    pretrain(config, forward_step)


def ranks_of_model(config):
    return config.model.tensor_model_parallel_size * config.model.pipeline_model_parallel_size * config.model.context_parallel_size


if __name__ == "__main__":
    main()
