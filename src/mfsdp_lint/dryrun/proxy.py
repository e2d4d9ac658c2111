"""The small model that stands for a recipe's: what FSDP cares about stays, what only costs time or needs a GPU goes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.dryrun.inventory import CPU, Device
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.dryrun.proxy_settings import (
    BASE,
    DISTRIBUTED,
    GPU_ONLY_MODEL,
    KEPT,
    KEPT_ON_A_GPU,
    LEFT_OUT,
    NEVER,
    OF_TRANSFORMER_ENGINE,
    ON_A_GPU,
    PLAIN,
    SECTIONS,
    SHORT,
    WITHOUT_A_GPU,
)
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE

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
        """Return the settings with plain DDP, in 16 bits where they are in fewer, and without features that only a GPU
        has.
        """
        kept = {
            path: value
            for path, value in self.settings.items()
            if not path.startswith("comm_overlap.") and path not in {*KEPT_ON_A_GPU, *WITHOUT_A_GPU, *self.keeps}
        }
        optimizer = DISTRIBUTED if _has_short_weights_alone(kept) else {}
        return {**kept, **dict(_precision(kept, CPU)), **PLAIN, **optimizer}


def _has_short_weights_alone(settings: PlainSettings) -> bool:
    """Tell whether weights have 16 bits and no setting has the optimizer keep longer ones, as the distributed one
    does.
    """
    keeps = ("mixed_precision", "optimizer.bf16", "optimizer.fp16")
    has = settings.get("model.bf16") or settings.get("model.fp16") or settings.get("model.params_dtype") in SHORT
    return bool(has) and not any(settings.get(path) for path in keeps)


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
    ranks = _divisible(ranks, {**kept, **changes})
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


def _divisible(ranks: int, settings: PlainSettings) -> int:
    """Return at least so many ranks, which divide among stages, and their replicas among experts and instances."""
    stages = settings.get("model.pipeline_model_parallel_size") or 1
    experts = settings.get("model.expert_model_parallel_size") or 1
    instances = settings.get("ddp.num_distributed_optimizer_instances") or 1
    each = stages * math.lcm(experts, instances)
    return -(-ranks // each) * each


def _is_kept(path: str, device: Device) -> bool:
    if path in LEFT_OUT:
        return False
    if path in KEPT_ON_A_GPU:
        return device.is_gpu
    return path in KEPT or path.partition(".")[0] in SECTIONS


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
        yield "model.expert_model_parallel_size", _spread(settings, kept, ranks)


def _spread(settings: PlainSettings, kept: Mapping[str, Any], ranks: int) -> int:
    """Return the number of ranks that the small experts are spread over."""
    if not _is_spread(settings, kept):
        return 1
    if _has_no_replicas(settings):
        return min(ranks, _MOST_EXPERTS)
    return 2 if ranks >= _FOR_EXPERTS else 1


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
    """Yield the precision: only a GPU computes in 8 or 4 bits, and not every one; elsewhere it is the 16 bits around
    them.
    """
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
