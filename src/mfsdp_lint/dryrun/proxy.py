"""The small model that stands for a recipe's: what FSDP cares about stays, what only costs time or needs a GPU goes.

Its own settings, and the settings of a recipe that reach it, on a CPU and on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun.inventory import CPU, Device
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE

BASE: PlainSettings = {
    "model.num_layers": 2,
    "model.hidden_size": 32,
    "model.ffn_hidden_size": 64,
    "model.num_attention_heads": 4,
    "model.vocab_size": 128,
    "model.seq_length": 16,
    "model.attention_dropout": 0.0,  # its draws are not those of a GPU
    "model.hidden_dropout": 0.0,
    "model.share_embeddings_and_output_weights": False,
    "model.position_embedding_type": "rope",
    "model.transformer_impl": "local",
    **dict.fromkeys(("model.persist_layer_norm", "model.bias_activation_fusion", "model.masked_softmax_fusion"), False),
    **dict.fromkeys(("model.bias_dropout_fusion", "model.apply_rope_fusion"), False),
    **dict.fromkeys(("model.gradient_accumulation_fusion", "model.cross_entropy_loss_fusion"), False),
    "train.train_iters": 10,
    "train.global_batch_size": 4,
    "train.micro_batch_size": 1,
    "optimizer.lr": 1e-2,
    "optimizer.min_lr": 1e-3,
    "optimizer.clip_grad": 1.0,
    "optimizer.use_precision_aware_optimizer": False,
    "optimizer.use_distributed_optimizer": True,
    "scheduler.lr_decay_iters": 10,
    "scheduler.lr_warmup_iters": 0,
    "scheduler.lr_warmup_init": 0.0,
    "scheduler.lr_decay_style": "constant",
    "scheduler.start_weight_decay": 0.01,
    "scheduler.end_weight_decay": 0.01,
    "scheduler.weight_decay_incr_style": "constant",
    # As in the recipes that Megatron-Bridge comes with, and not as in its classes.
    **dict.fromkeys(("ddp.use_distributed_optimizer", "ddp.overlap_grad_reduce", "ddp.overlap_param_gather"), True),
    "ddp.check_for_nan_in_grad": True,
    # Read only with FSDP; as the guide has it.
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "dist.distributed_backend": "gloo",
    "dist.use_gloo_process_groups": True,
    "checkpoint.ckpt_format": "torch_dist",
    "tokenizer.tokenizer_type": "NullTokenizer",
    "rng.seed": 1234,
}
"""The proxy model and how it is trained on a CPU, where a recipe does not say."""

ON_A_GPU: PlainSettings = {
    # The kernels for 8 bits want multiples of 16, 32 or 128.
    "model.hidden_size": 256,
    "model.ffn_hidden_size": 512,
    "model.seq_length": 128,
    "dist.distributed_backend": "nccl",
}
"""The settings of BASE that a GPU has otherwise."""

SECTIONS = frozenset({"ddp", "dist", "checkpoint", "mixed_precision", "comm_overlap", "peft"})
"""Sections that are kept, apart from the settings below."""

KEPT = frozenset(
    {
        *("mixed_precision", "comm_overlap", "peft", "model.__class__", "model.multi_latent_attention"),
        *("model.experimental_attention_variant", "model.bf16", "model.fp16", "model.params_dtype"),
        *("model.pipeline_dtype", "model.calculate_per_token_loss", "model.init_model_with_meta_device"),
        *("model.gated_linear_unit", "model.activation_func", "model.normalization", "model.qk_layernorm"),
        *("model.add_bias_linear", "model.add_qkv_bias", "model.share_embeddings_and_output_weights"),
        *("model.recompute_granularity", "model.recompute_method", "model.recompute_modules", "optimizer.optimizer"),
        *("optimizer.use_distributed_optimizer", "optimizer.bf16", "optimizer.fp16", "optimizer.clip_grad"),
        *("optimizer.loss_scale", "optimizer.overlap_param_gather"),
        *("optimizer.overlap_param_gather_with_optimizer_step", "rng.data_parallel_random_init"),
    }
)
"""Settings of the other sections that are kept: the model's sizes, the data and the schedule are not."""

KEPT_ON_A_GPU = frozenset(
    {
        *("model.cpu_offloading", "model.cpu_offloading_activations", "model.cpu_offloading_weights"),
        *("model.cpu_offloading_double_buffering", "model.fine_grained_activation_offloading", "model.offload_modules"),
        *("model.cuda_graph_impl", "model.cuda_graph_scope", "model.cuda_graph_warmup_steps"),
        *("model.enable_cuda_graph", "model.external_cuda_graph", "model.use_te_rng_tracker", "model.fp8"),
        *("model.fp8_recipe", "model.fp4", "model.fp4_recipe", "model.overlap_moe_expert_parallel_comm"),
        *("model.delay_wgrad_compute", "optimizer.optimizer_cpu_offload", "optimizer.optimizer_offload_fraction"),
        *("optimizer.overlap_cpu_optimizer_d2h_h2d", "optimizer.use_precision_aware_optimizer"),
        *("optimizer.main_grads_dtype", "optimizer.main_params_dtype", "optimizer.exp_avg_dtype"),
        *("optimizer.exp_avg_sq_dtype", "rng.te_rng_tracker", "env.CUDA_DEVICE_MAX_CONNECTIONS", "env.NCCL_ALGO"),
        *("env.NCCL_COLLNET_ENABLE", "env.NCCL_NVLS_ENABLE", "env.NVTE_CPU_OFFLOAD_V1", "env.PYTORCH_ALLOC_CONF"),
        *("env.PYTORCH_CUDA_ALLOC_CONF", "env.TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK"),
    }
)
"""Those that a GPU keeps as well. Of the environment, Megatron, torch and NCCL look at these variables."""

LEFT_OUT = frozenset(
    {
        *("checkpoint.save", "checkpoint.load", "checkpoint.pretrained_checkpoint"),
        *("checkpoint.non_persistent_local_ckpt_dir", "checkpoint.non_persistent_global_ckpt_dir"),
        *("dist.distributed_backend", "dist.local_rank", "dist.distributed_timeout_minutes"),
    }
)
"""Settings of a launch: each launch has its own."""

NEVER: PlainSettings = {
    **dict.fromkeys(("dist.use_decentralized_pg", "dist.use_sharp", "dist.lazy_init"), False),
    "dist.external_gpu_device_mapping": False,
    **dict.fromkeys(("dist.nccl_communicator_config_path", "dist.high_priority_stream_groups"), None),
    "dist.sharp_enabled_group": None,
    "comm_overlap.tp_comm_overlap": False,  # there is no tensor parallelism left
    "comm_overlap.tp_comm_overlap_cfg": None,
    "checkpoint.async_save": False,
    **dict.fromkeys(("checkpoint.non_persistent_ckpt_type", "checkpoint.non_persistent_save_interval"), None),
}
"""Settings of a cluster, or of the launcher's own loop."""

WITHOUT_A_GPU: PlainSettings = {
    **dict.fromkeys(("ddp.nccl_ub", "ddp.fp8_param_gather", "ddp.reuse_grad_buf_for_mxfp8_param_ag"), False),
    **dict.fromkeys(("ddp.delay_wgrad_compute", "ddp.fsdp_double_buffer", "ddp.fsdp_manual_registration"), False),
    "ddp.keep_fp8_transpose_cache": False,
    **dict.fromkeys(("mixed_precision.fp8", "mixed_precision.fp4"), None),
    **dict.fromkeys(("mixed_precision.fp8_param", "mixed_precision.fp8_param_gather"), False),
    "mixed_precision.reuse_grad_buf_for_mxfp8_param_ag": False,
    **dict.fromkeys(("comm_overlap.overlap_moe_expert_parallel_comm", "comm_overlap.delay_wgrad_compute"), False),
    "comm_overlap.defer_embedding_wgrad_compute": False,  # which takes a fused kernel
}
"""Settings for abilities that only a GPU has, with their replacements."""

GPU_ONLY_MODEL: PlainSettings = {
    **dict.fromkeys(("model.cpu_offloading", "model.fine_grained_activation_offloading"), False),
    "model.cuda_graph_impl": "none",
    **dict.fromkeys(("model.enable_cuda_graph", "model.external_cuda_graph"), False),
    **dict.fromkeys(("model.fp8", "model.fp4", "model.mtp_num_layers"), None),
    "model.overlap_moe_expert_parallel_comm": False,
    **dict.fromkeys(("optimizer.optimizer_cpu_offload", "optimizer.use_precision_aware_optimizer"), False),
}
"""Likewise of the sections that are not kept: nothing is done instead, but it is worth saying."""

OF_TRANSFORMER_ENGINE = (
    *("model.cpu_offloading", "model.fine_grained_activation_offloading", "optimizer.use_precision_aware_optimizer"),
)
"""Those of these that need Transformer Engine."""

PLAIN: PlainSettings = {
    **dict.fromkeys(("dist.use_megatron_fsdp", "dist.use_torch_fsdp2", "dist.use_tp_pp_dp_mapping"), False),
    "ddp.use_megatron_fsdp": False,
    "ddp.data_parallel_sharding_strategy": "no_shard",
    "ddp.num_distributed_optimizer_instances": 1,
    **dict.fromkeys(("ddp.use_distributed_optimizer", "ddp.overlap_param_gather", "ddp.overlap_grad_reduce"), False),
    **dict.fromkeys(("optimizer.use_distributed_optimizer", "optimizer.overlap_param_gather"), False),
    **dict.fromkeys(("optimizer.overlap_param_gather_with_optimizer_step", "model.init_model_with_meta_device"), False),
    "checkpoint.ckpt_format": "torch_dist",
    "comm_overlap": None,
}
"""Settings of a run with plain DDP, with which every other run has to agree."""

SHORT = ("torch.bfloat16", "torch.float16")
"""Types of 16 bits."""

IN_32_BITS: PlainSettings = {
    "mixed_precision": None,
    **dict.fromkeys(("model.bf16", "model.fp16", "optimizer.bf16", "optimizer.fp16"), False),
    **dict.fromkeys(("model.params_dtype", "model.pipeline_dtype"), "torch.float32"),
}
"""Settings that make all of it compute in 32 bits."""

_RANKS, _MICROBATCHES = 2, 2
"""How many ranks the batch of the proxy model is for, and how many microbatches each has: with one, mistakes in adding
gradients up do not show."""

_MOST_EXPERTS = 4
_FOR_EXPERTS = 4
"""Ranks that experts take which are spread over two: with fewer, each group that shards them has one rank, which
Megatron-FSDP does not get right. Who is known to have such groups gets them."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """The settings to train with, how many ranks that takes, and what of the recipe's is not as it was."""

    settings: PlainSettings
    ranks: int
    reduced: tuple[str, ...]
    changed: frozenset[str]
    keeps: frozenset[str] = frozenset()

    @property
    def plain(self) -> PlainSettings:
        """The settings with plain DDP, in 16 bits where they are in fewer, and without features that only a GPU has."""
        kept = {
            path: value
            for path, value in self.settings.items()
            if not path.startswith("comm_overlap.") and path not in {*KEPT_ON_A_GPU, *WITHOUT_A_GPU, *self.keeps}
        }
        plain = {**kept, **dict(_precision(kept, CPU)), **PLAIN}
        # Weights of 16 bits, of which no setting has the optimizer keep longer ones, as the distributed one does.
        short = kept.get("model.bf16") or kept.get("model.fp16") or kept.get("model.params_dtype") in SHORT
        if short and not any(kept.get(path) for path in ("mixed_precision", "optimizer.bf16", "optimizer.fp16")):
            plain |= {"ddp.use_distributed_optimizer": True, "optimizer.use_distributed_optimizer": True}
        return plain


def base_of(device: Device) -> PlainSettings:
    """Return the settings below a recipe's own: the proxy model, and its training."""
    if not device.is_gpu:
        return BASE
    layers = {"model.transformer_impl": "transformer_engine"} if device.transformer_engine else {}
    return {**BASE, **ON_A_GPU, **layers}


def proxy_of(settings: PlainSettings, ranks: int, device: Device = CPU, keeps: Collection[str] = ()) -> Proxy:
    """Make the proxy of a recipe on so many ranks, or a few more where these do not divide among the parts that it
    spreads.

    Hybrid sharding, and experts that are spread, take at least four. Settings in `keeps` are as the recipe has them.
    """
    kept = {path: value for path, value in settings.items() if path in keeps or _is_kept(path, device)}
    off = {path: value for path, value in _off(device, kept) if path not in keeps}
    changes = dict(_parallelism(settings, kept, ranks))
    if _is_spread(settings, kept) and not device.is_gpu and ranks > 1 and not _has_no_replicas(settings):
        ranks = max(ranks, _FOR_EXPERTS)
    changes |= dict(_experts(settings, kept, ranks))
    changes |= {path: value for path, value in off.items() if kept.get(path) not in (None, value)}
    changes |= dict(_precision(kept, device))
    if kept.get("model.recompute_granularity") == "full":
        kept |= {"model.recompute_num_layers": 1}
    if kept.get("model.cpu_offloading") and "model.cpu_offloading" not in changes:
        kept |= {"model.cpu_offloading_num_layers": 1}
    instances = settings.get("ddp.num_distributed_optimizer_instances", 1)
    if isinstance(instances, int) and instances > 1:
        ranks = max(ranks, 4)
        if instances != 2:
            changes["ddp.num_distributed_optimizer_instances"] = 2
    # So many ranks divide among stages, and their replicas among experts and instances.
    run = {**kept, **changes}
    experts, replicas = (
        run.get(path) or 1 for path in ("model.expert_model_parallel_size", "ddp.num_distributed_optimizer_instances")
    )
    each = (run.get("model.pipeline_model_parallel_size") or 1) * math.lcm(experts, replicas)
    ranks = -(-ranks // each) * each
    if ranks != _RANKS:
        kept["train.global_batch_size"] = _MICROBATCHES * ranks
    told = {path: (settings[path], value) for path, value in changes.items() if settings.get(path, value) != value}
    left = {
        path: settings[path]
        for path, value in GPU_ONLY_MODEL.items()
        if path not in kept and settings.get(path, value) not in (value, None)
    }
    reduced = (
        *(f"{path} {_spelled(before)} → {_spelled(after)}" for path, (before, after) in told.items()),
        *(f"{path} {_spelled(value)} left out" for path, value in left.items()),
    )
    return Proxy({**kept, **changes}, ranks, reduced, frozenset({*changes, *left}), frozenset(keeps))


def _is_kept(path: str, device: Device) -> bool:
    if path in KEPT_ON_A_GPU:
        return device.is_gpu
    return path not in LEFT_OUT and (path in KEPT or path.partition(".")[0] in SECTIONS)


def _off(device: Device, kept: PlainSettings) -> Iterator[tuple[str, Any]]:
    """Yield the settings that this device cannot do, each with its replacement."""
    yield from NEVER.items()
    if not device.is_gpu:
        yield from WITHOUT_A_GPU.items()
        return
    if not device.transformer_engine:
        yield from ((path, GPU_ONLY_MODEL[path]) for path in OF_TRANSFORMER_ENGINE)
    in_blocks = any("mxfp8" in str(kept.get(f"{section}.fp8_recipe")) for section in ("model", "mixed_precision"))
    if not (device.computes_in_blocks if in_blocks else device.computes_in_8_bits):
        yield from ((path, value) for path, value in WITHOUT_A_GPU.items() if "fp8" in path)
        yield "model.fp8", None
    if not device.computes_in_blocks:
        yield from (("mixed_precision.fp4", None), ("model.fp4", None))
        yield from ((path, value) for path, value in WITHOUT_A_GPU.items() if "mxfp8" in path)


def _parallelism(settings: PlainSettings, kept: dict[str, Any], ranks: int) -> Iterator[tuple[str, Any]]:
    """Yield smaller sizes: two pipeline stages for many; all else is for data parallelism, over which FSDP shards."""
    pipeline = settings.get("model.pipeline_model_parallel_size")
    if isinstance(pipeline, int) and pipeline > 1:
        kept["model.pipeline_model_parallel_size"] = pipeline
        yield "model.pipeline_model_parallel_size", min(ranks, 2)
        kept.setdefault("model.pipeline_dtype", "torch.float32")
    for name in ("tensor_model", "context", "expert_tensor"):
        if settings.get(f"model.{name}_parallel_size") not in (None, 1):
            yield f"model.{name}_parallel_size", 1
    for path, one in (("model.virtual_pipeline_model_parallel_size", None), ("model.sequence_parallel", False)):
        if settings.get(path) not in (None, one):
            yield path, one


def _experts(settings: PlainSettings, kept: dict[str, Any], ranks: int) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a few small experts, two ranks wide if they were spread at all."""
    experts = settings.get("model.num_moe_experts")
    if not isinstance(experts, int) or experts < 1:
        return
    yield "model.num_moe_experts", min(experts, _MOST_EXPERTS)
    yield "model.moe_router_topk", min(settings.get("model.moe_router_topk") or 2, 2, experts)
    kept |= {
        "model.moe_ffn_hidden_size": 64,
        "model.moe_token_dispatcher_type": "alltoall",
        "model.moe_grouped_gemm": False,
        "model.add_bias_linear": False,  # added in place, which torch forbids on what the small experts return
    }
    recomputed = kept.get("model.recompute_modules")
    if isinstance(recomputed, list) and "moe_act" in recomputed:  # which takes grouped experts
        yield "model.recompute_modules", [module for module in recomputed if module != "moe_act"]
    if settings.get("model.expert_model_parallel_size") not in (None, 1):
        over = min(ranks, _MOST_EXPERTS) if _has_no_replicas(settings) else 2 if ranks >= _FOR_EXPERTS else 1
        yield "model.expert_model_parallel_size", over if _is_spread(settings, kept) else 1


def _has_no_replicas(settings: PlainSettings) -> bool:
    """Tell whether the experts are known to be spread over all ranks that have a batch of their own."""
    world = settings.get(WORLD_SIZE)
    names = ("tensor_model", "pipeline_model", "context", "expert_model")
    *model, experts = (settings.get(f"model.{name}_parallel_size") or 1 for name in names)
    if not isinstance(world, int) or not all(isinstance(size, int) for size in (*model, experts)):
        return False
    return world == math.prod(model) * experts


def _is_spread(settings: PlainSettings, kept: Mapping[str, Any]) -> bool:
    """Tell whether the experts are spread over ranks; where there are pipeline stages the proxy's are not."""
    experts, spread = (settings.get(f"model.{name}") for name in ("num_moe_experts", "expert_model_parallel_size"))
    if not (isinstance(experts, int) and isinstance(spread, int)):
        return False
    return experts > 0 and spread > 1 and "model.pipeline_model_parallel_size" not in kept


def _precision(kept: Mapping[str, Any], device: Device) -> Iterator[tuple[str, Any]]:
    """Yield the precision: only some GPUs compute in 8 or 4 bits; all else does in the 16 bits around them."""
    if "mixed_precision" not in kept and kept.get("model.bf16"):
        # Where nobody says how, as the launcher's own 16 bits: model, optimizer and wrapper have to agree.
        yield "mixed_precision", "bf16_mixed"
    name = kept.get("mixed_precision")
    if not isinstance(name, str):
        return
    in_blocks = any(kind in name for kind in ("mxfp8", "fp4"))
    in_8_bits = "fp8" in name
    if (in_blocks and not device.computes_in_blocks) or (in_8_bits and not device.computes_in_8_bits):
        yield "mixed_precision", "fp16_mixed" if name.startswith("fp16") else "bf16_mixed"


def _spelled(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
