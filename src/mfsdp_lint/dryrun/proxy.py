"""The small model that stands for a recipe's: what FSDP cares about stays, what only costs time or needs a GPU goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mfsdp_lint.dryrun.outcome import Settings

BASE: Settings = {
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
    "model.persist_layer_norm": False,
    "model.bias_activation_fusion": False,
    "model.masked_softmax_fusion": False,
    "model.bias_dropout_fusion": False,
    "model.apply_rope_fusion": False,
    "model.gradient_accumulation_fusion": False,
    "model.cross_entropy_loss_fusion": False,
    # Two microbatches for each of two ranks: mistakes in adding gradients up do not show with one.
    "train.train_iters": 10,
    "train.global_batch_size": 4,
    "train.micro_batch_size": 1,
    "optimizer.lr": 1e-2,
    "optimizer.min_lr": 1e-3,
    "optimizer.clip_grad": 1.0,
    "optimizer.use_distributed_optimizer": True,
    "scheduler.lr_decay_iters": 10,
    "scheduler.lr_warmup_iters": 0,
    "scheduler.lr_warmup_init": 0.0,
    "scheduler.lr_decay_style": "constant",
    "scheduler.start_weight_decay": 0.01,
    "scheduler.end_weight_decay": 0.01,
    "scheduler.weight_decay_incr_style": "constant",
    # As in the recipes that Megatron-Bridge comes with, and not as in its classes.
    "ddp.use_distributed_optimizer": True,
    "ddp.overlap_grad_reduce": True,
    "ddp.overlap_param_gather": True,
    "ddp.check_for_nan_in_grad": True,
    # Read only with FSDP; as the guide has it.
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "dist.distributed_backend": "gloo",
    "dist.use_gloo_process_groups": True,
    "checkpoint.ckpt_format": "torch_dist",
    "tokenizer.tokenizer_type": "NullTokenizer",
    "rng.seed": 1234,
}
"""The proxy model and how it is trained, where a recipe does not say."""

_SECTIONS = frozenset({"ddp", "dist", "checkpoint", "mixed_precision", "comm_overlap"})
"""Sections that are kept but for what is named below."""

_KEPT = frozenset(
    {
        "mixed_precision",
        "comm_overlap",
        "model.bf16",
        "model.fp16",
        "model.params_dtype",
        "model.pipeline_dtype",
        "model.calculate_per_token_loss",
        "model.init_model_with_meta_device",
        "model.gated_linear_unit",
        "model.activation_func",
        "model.normalization",
        "model.qk_layernorm",
        "model.add_bias_linear",
        "model.add_qkv_bias",
        "model.share_embeddings_and_output_weights",
        "model.recompute_granularity",
        "model.recompute_method",
        "model.recompute_modules",
        "optimizer.optimizer",
        "optimizer.use_distributed_optimizer",
        "optimizer.bf16",
        "optimizer.fp16",
        "optimizer.clip_grad",
        "optimizer.overlap_param_gather",
        "optimizer.overlap_param_gather_with_optimizer_step",
        "rng.data_parallel_random_init",
    }
)
"""What is kept of the other sections: the model's sizes, the data and the schedule are not."""

_LEFT_OUT = frozenset(
    {
        "checkpoint.save",
        "checkpoint.load",
        "checkpoint.pretrained_checkpoint",
        "checkpoint.non_persistent_local_ckpt_dir",
        "checkpoint.non_persistent_global_ckpt_dir",
        "dist.distributed_backend",
        "dist.local_rank",
        "dist.distributed_timeout_minutes",
    }
)
"""What belongs to a launch, and each launch has its own."""

_WITHOUT_A_GPU: Settings = {
    "ddp.nccl_ub": False,
    "ddp.fp8_param_gather": False,
    "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
    "ddp.delay_wgrad_compute": False,
    "ddp.fsdp_double_buffer": False,
    "ddp.fsdp_manual_registration": False,
    "ddp.keep_fp8_transpose_cache": False,
    "dist.use_decentralized_pg": False,
    "dist.use_sharp": False,
    "dist.lazy_init": False,
    "dist.external_gpu_device_mapping": False,
    "dist.nccl_communicator_config_path": None,
    "dist.high_priority_stream_groups": None,
    "dist.sharp_enabled_group": None,
    "mixed_precision.fp8": None,
    "mixed_precision.fp4": None,
    "mixed_precision.fp8_param": False,
    "mixed_precision.fp8_param_gather": False,
    "mixed_precision.reuse_grad_buf_for_mxfp8_param_ag": False,
    "comm_overlap.tp_comm_overlap": False,
    "comm_overlap.tp_comm_overlap_cfg": None,
    "comm_overlap.overlap_moe_expert_parallel_comm": False,
    "comm_overlap.delay_wgrad_compute": False,
    "checkpoint.async_save": False,
}
"""What only a GPU can do, and what is done instead."""

_GPU_ONLY_MODEL: Settings = {
    "model.cpu_offloading": False,
    "model.fine_grained_activation_offloading": False,
    "model.cuda_graph_impl": "none",
    "model.enable_cuda_graph": False,
    "model.external_cuda_graph": False,
    "model.fp8": None,
    "model.fp4": None,
    "model.multi_latent_attention": False,
    "model.mtp_num_layers": None,
    "model.overlap_moe_expert_parallel_comm": False,
    "optimizer.optimizer_cpu_offload": False,
    "optimizer.use_precision_aware_optimizer": False,
}
"""Likewise of the sections that are not kept: nothing is done instead, but it is worth saying."""

PLAIN: Settings = {
    "dist.use_megatron_fsdp": False,
    "dist.use_torch_fsdp2": False,
    "dist.use_tp_pp_dp_mapping": False,
    "ddp.use_megatron_fsdp": False,
    "ddp.data_parallel_sharding_strategy": "no_shard",
    "ddp.num_distributed_optimizer_instances": 1,
    "ddp.use_distributed_optimizer": False,
    "ddp.overlap_param_gather": False,
    "ddp.overlap_grad_reduce": False,
    "optimizer.use_distributed_optimizer": False,
    "optimizer.overlap_param_gather": False,
    "optimizer.overlap_param_gather_with_optimizer_step": False,
    "model.init_model_with_meta_device": False,
    "checkpoint.ckpt_format": "torch_dist",
    "comm_overlap": None,
}
"""What makes a run one with plain DDP, with which every other has to agree."""

_MOST_EXPERTS = 4


@dataclass(frozen=True, slots=True)
class Proxy:
    """The settings to train with, how many ranks that takes, and what of the recipe's is not as it was."""

    settings: Settings
    ranks: int
    reduced: tuple[str, ...]
    changed: frozenset[str]

    @property
    def plain(self) -> Settings:
        """The same with plain DDP."""
        dropped = [path for path in self.settings if path.startswith("comm_overlap.")]
        return {**{path: value for path, value in self.settings.items() if path not in dropped}, **PLAIN}


def proxy_of(settings: Settings, ranks: int) -> Proxy:
    """The proxy of a recipe on so many ranks; hybrid sharding takes at least four."""
    kept = {path: value for path, value in settings.items() if _is_kept(path)}
    changes = dict(_parallelism(settings, kept))
    changes |= dict(_experts(settings, kept))
    changes |= {path: value for path, value in _WITHOUT_A_GPU.items() if kept.get(path) not in (None, value)}
    changes |= dict(_precision(kept))
    if kept.get("model.recompute_granularity") == "full":
        kept |= {"model.recompute_num_layers": 1}
    instances = settings.get("ddp.num_distributed_optimizer_instances", 1)
    if isinstance(instances, int) and instances > 1:
        ranks = max(ranks, 4)
        if instances != 2:
            changes["ddp.num_distributed_optimizer_instances"] = 2
    told = {path: (settings[path], value) for path, value in changes.items() if settings.get(path, value) != value}
    left = {path: settings[path] for path, off in _GPU_ONLY_MODEL.items() if settings.get(path, off) not in (off, None)}
    reduced = (
        *(f"{path} {_spelled(before)} → {_spelled(after)}" for path, (before, after) in told.items()),
        *(f"{path} {_spelled(value)} left out" for path, value in left.items()),
    )
    return Proxy({**kept, **changes}, ranks, reduced, frozenset({*changes, *left}))


def _is_kept(path: str) -> bool:
    if path in _LEFT_OUT:
        return False
    return path in _KEPT or path.partition(".")[0] in _SECTIONS


def _parallelism(settings: Settings, kept: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Two pipeline stages for many; all else is for data parallelism, which is what FSDP shards over."""
    pipeline = settings.get("model.pipeline_model_parallel_size")
    if isinstance(pipeline, int) and pipeline > 1:
        kept["model.pipeline_model_parallel_size"] = pipeline
        yield "model.pipeline_model_parallel_size", 2
        kept.setdefault("model.pipeline_dtype", "torch.float32")
    for name in ("tensor_model", "context", "expert_tensor"):
        if settings.get(f"model.{name}_parallel_size") not in (None, 1):
            yield f"model.{name}_parallel_size", 1
    for path, one in (("model.virtual_pipeline_model_parallel_size", None), ("model.sequence_parallel", False)):
        if settings.get(path) not in (None, one):
            yield path, one


def _experts(settings: Settings, kept: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A few small experts, two ranks wide if they were spread at all."""
    experts = settings.get("model.num_moe_experts")
    if not isinstance(experts, int) or experts < 1:
        return
    yield "model.num_moe_experts", min(experts, _MOST_EXPERTS)
    yield "model.moe_router_topk", min(settings.get("model.moe_router_topk") or 2, 2, experts)
    kept |= {
        "model.moe_ffn_hidden_size": 64,
        "model.moe_token_dispatcher_type": "alltoall",
        "model.moe_grouped_gemm": False,
    }
    spread = settings.get("model.expert_model_parallel_size")
    if isinstance(spread, int) and spread > 1:
        pipelined = "model.pipeline_model_parallel_size" in kept
        yield "model.expert_model_parallel_size", 1 if pipelined else 2


def _precision(kept: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Only a GPU computes in 8 or 4 bits: such a recipe runs in the 16 bits that lie around them."""
    if "mixed_precision" not in kept and kept.get("model.bf16"):
        # Where nobody says how, as the launcher's own 16 bits: model, optimizer and wrapper have to agree.
        yield "mixed_precision", "bf16_mixed"
    name = kept.get("mixed_precision")
    if isinstance(name, str) and any(kind in name for kind in ("fp8", "fp4")):
        yield "mixed_precision", "fp16_mixed" if name.startswith("fp16") else "bf16_mixed"


def _spelled(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
