"""Behaviour of scripts/performance/run_script.py of Megatron-Bridge, 0.3.0 to 0.5.1, with utils/overrides.py beside it.

A recipe of the library by its name; what the table of workloads makes of it is not known (all sections but the checkpoint:
there it only switches saving off); then the overrides; then the options that concern parallelism, FSDP and checkpoints.
"""

import argparse

import megatron.bridge.recipes as recipes
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
from not_described import left_open


SWITCHES = (
    "--deterministic", "-d", "--dryrun", "--dump_env", "-en", "--enable_nsys", "--export_nsys_sqlite", "--head_only", "--is_long_convergence_run",
    "--list_config_variants", "--offline", "--packed_sequence", "--profiling_gpu_metrics", "--retry_on_testing_failure", "--use_recipes",
)
SHORT = (
    "-a", "-c", "-ce", "-cm", "-cs", "-cv", "-et", "-g", "-gb", "-gn", "-hf", "-i", "-l", "-lgc", "-lmc", "-m",
    "-mb", "-mh", "-ng", "-nh", "-p", "-pyp", "-rl", "-sl", "-t", "-vb", "-vp", "-wde", "-wdj", "-wdk", "-wdp",
    "-wds",
)
"""Others by their short names, with a value each, which would be taken for the beginning of a longer one."""
LISTS = ("-cb", "--custom_bash_cmds", "--dataset_paths", "--c4_train_shards")
"""Options that are not read here, without a value or with several (argument_parser.py, 0.3.1 to 0.5.1): any other one has one."""


def is_true(text):
    return text.lower() in ("true", "1", "t", "yes", "y")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-mr", "--model_recipe_name", required=True)
    parser.add_argument("--task", default="pretrain")
    parser.add_argument("-ms", "--max_steps", type=int)
    parser.add_argument("-tp", "--tensor_model_parallel_size", type=int)
    parser.add_argument("-pp", "--pipeline_model_parallel_size", type=int)
    parser.add_argument("-cp", "--context_parallel_size", type=int)
    parser.add_argument("-ep", "--expert_model_parallel_size", type=int)
    parser.add_argument("--use_megatron_fsdp", type=is_true)
    parser.add_argument("--nccl_ub", type=is_true)
    parser.add_argument("-ol", "--activation_offload_layers", type=int)
    parser.add_argument("--save_dir")
    parser.add_argument("--save_interval", type=int)
    parser.add_argument("--load_dir")
    parser.add_argument("--pretrained_checkpoint")
    for option in SHORT:
        parser.add_argument(option)
    for option in SWITCHES:
        parser.add_argument(option, action="store_true")
    for option in LISTS:
        parser.add_argument(option, action="append", nargs="*")
    args, others = parser.parse_known_args()
    builder = getattr(recipes, args.model_recipe_name.lower() + "_" + args.task + "_config", None)
    if builder is None or args.task != "pretrain":
        raise SystemExit("its recipe is no recipe of the library")
    config = builder()
    config.model = left_open()
    config.ddp = left_open()
    config.train = left_open()
    config.optimizer = left_open()
    config.comm_overlap = left_open()
    config.mixed_precision = left_open()
    config.dataset = left_open()
    config.tokenizer = left_open()
    config.checkpoint.async_save = left_open()
    config.checkpoint.save = None
    config.checkpoint.load = left_open()
    overrides, takes = [], False  # (what is the value of an option is no override)
    for each in others:
        if each.startswith("-"):
            takes = "=" not in each
        elif takes:
            takes = False
        elif "=" in each:
            overrides.append(each)
    config = process_config_with_overrides(config, cli_overrides=overrides or None)
    if args.use_megatron_fsdp:
        # (Upstream writes True. The value of the option is the same, and stands where somebody can change it.)
        config.ddp.use_megatron_fsdp = args.use_megatron_fsdp
        config.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        config.ddp.keep_fp8_transpose_cache = False
        config.ddp.average_in_collective = False
        config.model.init_model_with_meta_device = True
        config.model.gradient_accumulation_fusion = True
        config.checkpoint.load = None
    if args.nccl_ub:
        config.ddp.nccl_ub = args.nccl_ub
        config.ddp.average_in_collective = False
    if args.activation_offload_layers is not None:
        config.model.cpu_offloading = True
        config.model.cpu_offloading_weights = False
        config.model.cpu_offloading_num_layers = args.activation_offload_layers
    if args.max_steps is not None:
        config.train.train_iters = args.max_steps
    if args.tensor_model_parallel_size is not None:
        config.model.tensor_model_parallel_size = args.tensor_model_parallel_size
        config.model.sequence_parallel = args.tensor_model_parallel_size > 1
    if args.pipeline_model_parallel_size is not None:
        config.model.pipeline_model_parallel_size = args.pipeline_model_parallel_size
    if args.context_parallel_size is not None:
        config.model.context_parallel_size = args.context_parallel_size
    if args.expert_model_parallel_size is not None:
        config.model.expert_model_parallel_size = args.expert_model_parallel_size
    if args.pretrained_checkpoint is not None:
        config.checkpoint.pretrained_checkpoint = args.pretrained_checkpoint
    if args.save_interval is not None:
        config.checkpoint.save_interval = args.save_interval
        config.checkpoint.save = args.save_dir or "/nemo_run/checkpoints"
    elif args.save_dir is not None:
        config.checkpoint.save = args.save_dir
    if args.load_dir is not None:
        config.checkpoint.load = args.load_dir
    pretrain(config, forward_step)


if __name__ == "__main__":
    main()
