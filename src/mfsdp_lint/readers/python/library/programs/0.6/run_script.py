"""Behaviour of scripts/performance/run_script.py of Megatron-Bridge since 0.6.0, with argument_parser.py and utils beside it.

A recipe of megatron.bridge.perf_recipes by a name that is made of the options; then the overrides; then the options.
Without a recipe for so many GPUs, the one for the most; what is scaled then is not known.
"""

import argparse
import importlib
import os

from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
from not_described import left_open

FAMILIES = ("deepseek", "glm_moe_dsa", "gpt_oss", "kimi", "llama", "nemotronh", "qwen", "qwen_vl", "wan")
NUMBERS = (8, 16, 32, 64, 72, 128, 192, 256, 416, 512, 1024)
PRECISIONS = {"bf16": "bf16", "fp8_cs": "fp8cs", "fp8_ds": "fp8ds", "fp8_mx": "fp8mx", "fp8_sc": "fp8sc", "nvfp4": "nvfp4"}
SMALLER = ("llama3_8b", "nemotronh_56b", "qwen3_30b_a3b")  # on some GPUs, the recipe for fewer is the default
BLACKWELL = ("b200", "b300", "gb200", "gb300", "vr200")
SWITCHES = (
    "-d", "--dryrun", "--dump_env", "-en", "--enable_nsys", "--export_nsys_sqlite", "--head_only", "--is_long_convergence_run",
    "--list_config_variants", "--offline", "--packed_sequence", "--profiling_gpu_metrics", "--retry_on_testing_failure",
)
SHORT = (
    "-a", "-gn", "-hf", "-i", "-l", "-lgc", "-lmc", "-mh", "-nh", "-p", "-pyp", "-t", "-vb", "-wde", "-wdj",
    "-wdk", "-wdp", "-wds",
)
"""Others by their short names, with a value each, which would be taken for the beginning of a longer one."""
LISTS = ("-cb", "--custom_bash_cmds", "--dataset_paths", "--c4_train_shards")
"""Options that are not read here, without a value or with several (argument_parser.py, 0.6.0): any other one has one."""


def is_true(text):
    return text.lower() in ("true", "1", "t", "yes", "y")


def number_or_none(text):
    return None if text == "None" else int(text)


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--model_family_name", required=True)
    parser.add_argument("-mr", "--model_recipe_name", required=True)
    parser.add_argument("-ng", "--num_gpus", type=int, required=True)
    parser.add_argument("-g", "--gpu", required=True)
    parser.add_argument("-c", "--compute_dtype", default="bf16")
    parser.add_argument("-cv", "--config_variant")
    parser.add_argument("--task", default="pretrain")
    parser.add_argument("--domain", default="llm")
    parser.add_argument("--data", default="mock")
    parser.add_argument("-ms", "--max_steps", type=int)
    parser.add_argument("-gb", "--global_batch_size", type=int)
    parser.add_argument("-mb", "--micro_batch_size", type=int)
    parser.add_argument("-sl", "--seq_length", type=int)
    parser.add_argument("--hidden_size", type=int)
    parser.add_argument("--num_layers", type=int)
    parser.add_argument("--num_moe_experts", type=int)
    parser.add_argument("--pipeline_model_parallel_layout")
    parser.add_argument("-tp", "--tensor_model_parallel_size", type=int)
    parser.add_argument("-pp", "--pipeline_model_parallel_size", type=int)
    parser.add_argument("-cp", "--context_parallel_size", type=int)
    parser.add_argument("-vp", "--virtual_pipeline_model_parallel_size", type=number_or_none, default=-1)
    parser.add_argument("-ep", "--expert_model_parallel_size", type=int)
    parser.add_argument("-et", "--expert_tensor_parallel_size", type=int, nargs="?")
    parser.add_argument("--use_megatron_fsdp", type=is_true)
    parser.add_argument("--nccl_ub", type=is_true)
    parser.add_argument("--cuda_graph_impl")
    parser.add_argument("--cuda_graph_scope")
    parser.add_argument("--moe_a2a_overlap", type=is_true)
    parser.add_argument("--moe_flex_dispatcher_backend", default=-1)
    parser.add_argument("--use_tokendrop", type=is_true)
    parser.add_argument("-rl", "--recompute_num_layers", type=int)
    parser.add_argument("-ol", "--activation_offload_layers", type=int)
    parser.add_argument("--recompute_modules")
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--pretrained_checkpoint")
    parser.add_argument("--save_dir")
    parser.add_argument("--load_dir")
    parser.add_argument("--save_interval", type=int)
    parser.add_argument("--most_recent_k", type=int)
    parser.add_argument("--save_config_filepath")
    parser.add_argument("--tokenizer_type")
    parser.add_argument("-ce", "--custom_env_vars")
    parser.add_argument("-E", "--env", action="append")
    parser.add_argument("-cs", "--custom_srun_args")
    parser.add_argument("-cm", "--custom_mounts")
    parser.add_argument("--additional_slurm_params")
    parser.add_argument("--gres")
    parser.add_argument("--use_recipes", action="store_true")
    for option in SHORT:
        parser.add_argument(option)
    for option in SWITCHES:
        parser.add_argument(option, action="store_true")
    for option in LISTS:
        parser.add_argument(option, action="append", nargs="*")
    return parser


def found(args, number):
    variant = "" if args.config_variant is None or args.config_variant.lower() in ("v1", "v2") else "_" + args.config_variant.lower()
    precision = PRECISIONS.get(args.compute_dtype.lower(), args.compute_dtype)
    name = f"{args.model_recipe_name.lower()}_{args.task}_{number}gpu_{args.gpu}_{precision}{variant}_config"
    for family in FAMILIES:
        builder = getattr(importlib.import_module("megatron.bridge.perf_recipes." + family), name, None)
        if builder is not None:
            return builder
    return None


def overridden(config, args, parser, overrides):
    backend = getattr(config.model, "moe_flex_dispatcher_backend", None)
    overlaps = config.comm_overlap is not None and config.comm_overlap.overlap_moe_expert_parallel_comm
    config = process_config_with_overrides(config, cli_overrides=overrides or None)
    if args.use_megatron_fsdp:
        # (Upstream writes True. The value of the option is the same, and stands where somebody can change it.)
        config.ddp.use_megatron_fsdp = args.use_megatron_fsdp
        config.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        config.ddp.keep_fp8_transpose_cache = False
        config.ddp.average_in_collective = False
        config.model.init_model_with_meta_device = True
        config.model.gradient_accumulation_fusion = True
        if config.comm_overlap is not None and config.comm_overlap.defer_embedding_wgrad_compute:
            config.comm_overlap.defer_embedding_wgrad_compute = False
        config.checkpoint.load = None
    if args.nccl_ub:
        config.ddp.nccl_ub = args.nccl_ub
        config.ddp.average_in_collective = False
    if config.ddp.use_megatron_fsdp and config.ddp.nccl_ub:
        config.ddp.fsdp_manual_registration = True
    if args.cuda_graph_impl is not None:
        config.model.cuda_graph_impl = args.cuda_graph_impl
        config.rng.te_rng_tracker = config.model.use_te_rng_tracker = args.cuda_graph_impl != "none"
    if config.model.cuda_graph_impl == "none":
        config.rng.te_rng_tracker = config.model.use_te_rng_tracker = False
        config.model.cuda_graph_modules = []
        config.model.cuda_graph_scope = None
    elif args.cuda_graph_scope is not None:
        config.model.cuda_graph_scope = left_open()
        config.model.cuda_graph_modules = left_open()
    if args.activation_offload_layers is not None and args.activation_offload_layers > 0:
        config.model.cpu_offloading = True
        config.model.cpu_offloading_weights = False
        config.model.cpu_offloading_num_layers = args.activation_offload_layers
    if args.recompute_num_layers is not None:
        config.model.recompute_granularity = "full"
        config.model.recompute_method = "block"
        config.model.recompute_num_layers = args.recompute_num_layers
    if args.recompute_modules is not None:
        config.model.recompute_modules = args.recompute_modules.split(",")
        config.model.recompute_granularity = "selective"
    if args.moe_a2a_overlap:
        config.comm_overlap = left_open()
        config.model.moe_shared_expert_overlap = False
    if args.use_tokendrop is not None:
        config.model.moe_expert_capacity_factor = left_open()
        config.model.moe_pad_expert_input_to_capacity = left_open()
        config.model.moe_router_force_load_balancing = left_open()
    config.logger.save_config_filepath = args.save_config_filepath or "/nemo_run/configs/ConfigContainer.yaml"
    if args.max_steps is not None:
        config.train.train_iters = args.max_steps
    if args.tensor_model_parallel_size is not None:
        config.model.tensor_model_parallel_size = args.tensor_model_parallel_size
        config.model.sequence_parallel = args.tensor_model_parallel_size > 1
    if args.pipeline_model_parallel_size is not None:
        config.model.pipeline_model_parallel_size = args.pipeline_model_parallel_size
    if args.context_parallel_size is not None:
        config.model.context_parallel_size = args.context_parallel_size
    if args.virtual_pipeline_model_parallel_size != -1:
        config.model.virtual_pipeline_model_parallel_size = args.virtual_pipeline_model_parallel_size
    if args.expert_model_parallel_size is not None:
        config.model.expert_model_parallel_size = args.expert_model_parallel_size
    if args.expert_tensor_parallel_size is not None:
        config.model.expert_tensor_parallel_size = args.expert_tensor_parallel_size
    if args.global_batch_size is not None:
        config.train.global_batch_size = args.global_batch_size
    if args.micro_batch_size is not None:
        config.train.micro_batch_size = args.micro_batch_size
    if args.pretrained_checkpoint is not None:
        config.checkpoint.pretrained_checkpoint = args.pretrained_checkpoint
    if args.save_interval is not None:
        config.checkpoint.save_interval = args.save_interval
        config.checkpoint.save = args.save_dir or "/nemo_run/checkpoints"
    elif args.save_dir is not None:
        config.checkpoint.save = args.save_dir
        config.checkpoint.save_interval = config.train.train_iters
    if args.load_dir is not None:
        config.checkpoint.load = args.load_dir
    if args.most_recent_k is not None:
        config.checkpoint.most_recent_k = args.most_recent_k
    if args.tokenizer_type is not None:
        config.tokenizer = left_open()
    if args.seq_length is not None:
        config.model.seq_length = args.seq_length
    if args.data == "mock" and args.domain == "llm" and args.task == "pretrain":
        config.dataset.sequence_length = config.model.seq_length
        config.dataset.split = "99990,8,2"
    elif args.data != "mock" or args.domain == "llm":
        config.dataset = left_open()
    if args.hidden_size is not None:
        config.model.hidden_size = args.hidden_size
    if args.num_layers is not None:
        config.model.num_layers = args.num_layers
        config.model.moe_layer_freq = left_open()
    if args.num_moe_experts is not None:
        config.model.num_moe_experts = args.num_moe_experts
    split = args.pipeline_model_parallel_size is not None or args.virtual_pipeline_model_parallel_size != -1
    if args.pipeline_model_parallel_layout is not None or (split and args.model_recipe_name in ("deepseek_v3", "kimi_k2")):
        config.model.pipeline_model_parallel_layout = left_open()
    if args.moe_flex_dispatcher_backend != -1:
        config.model.moe_flex_dispatcher_backend = left_open()
        config.model.moe_token_dispatcher_type = left_open()
    if args.task == "peft" and config.model.pipeline_model_parallel_size > 1 and not config.ddp.use_megatron_fsdp:
        config.dist.use_tp_pp_dp_mapping = True
    if args.deterministic:
        config.model.deterministic_mode = True
        config.model.cross_entropy_loss_fusion = False
        config.env_vars.update({"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "NCCL_ALGO": "Ring", "NVTE_ALLOW_NONDETERMINISTIC_ALGO": 0})
        if config.comm_overlap is not None:
            config.comm_overlap.tp_comm_overlap = False
    given = (args.tensor_model_parallel_size, args.context_parallel_size, args.moe_a2a_overlap)
    own = any("env_vars" in each for each in overrides)
    if any(each is not None for each in given) and not own:
        spread = config.model.tensor_model_parallel_size > 1 or config.model.context_parallel_size > 1
        connections = 32 if backend in ("deepep", "hybridep") or args.gpu in BLACKWELL else 8
        if args.gpu not in BLACKWELL and spread and not (overlaps if args.moe_a2a_overlap is None else args.moe_a2a_overlap):
            connections = 1
        config.env_vars["CUDA_DEVICE_MAX_CONNECTIONS"] = connections
    if args.nccl_ub and not own:
        config.env_vars["NCCL_NVLS_ENABLE"] = 1
        config.env_vars["NCCL_CTA_POLICY"] = 1
    return config


def main():
    parser = parsed()
    args, others = parser.parse_known_args()
    if args.use_recipes:
        raise SystemExit("another program of the harness is started")
    builder = found(args, args.num_gpus)
    scaled = builder is None
    if scaled:
        known = [each for each in [found(args, number) for number in NUMBERS] if each is not None]
        if not known or (len(known) > 1 and args.model_recipe_name in SMALLER):
            raise SystemExit("there is no recipe of this name, or one of several is picked")
        builder = known[-1]
    overrides, takes = [], False  # (what is the value of an option is no override)
    for each in others:
        if each.startswith("-"):
            takes = "=" not in each
        elif takes:
            takes = False
        elif "=" in each:
            overrides.append(each)
    config = overridden(builder(), args, parser, overrides)
    if scaled:
        config.train.global_batch_size = left_open()
        config.optimizer.overlap_param_gather_with_optimizer_step = left_open()
        if config.comm_overlap is not None:
            config.comm_overlap.overlap_param_gather_with_optimizer_step = left_open()
    if args.compute_dtype == "bf16" and config.optimizer.optimizer == "adam":
        config.optimizer.use_precision_aware_optimizer = True
    # What the experiment's script, which hands its words on, sets for the job.
    for each in [*(args.custom_env_vars or "").split(","), *(args.env or [])]:
        if "=" in each:
            os.environ[each.partition("=")[0]] = each.partition("=")[2]
    pretrain(config, forward_step)


if __name__ == "__main__":
    main()
