"""Recipes of many model families with Megatron-FSDP as NVIDIA's guide has it, and ways to write them that are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Family:
    """A recipe of Megatron-Bridge that stands for its family, and whether its model has experts."""

    name: str
    module: str
    function: str
    experts: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """Settings that change nothing of whether a recipe is right; `dense`: without experts alone."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    dense: bool = False

    def fits(self, family: Family) -> bool:
        return not (self.dense and family.experts)


FAMILIES = (
    Family("llama 3", "llama.llama3", "llama3_8b_pretrain_config"),
    Family("llama 3.2", "llama.llama3", "llama32_1b_pretrain_config"),
    Family("gemma 2", "gemma.gemma2", "gemma2_2b_pretrain_config"),
    Family("gemma 3", "gemma.gemma3", "gemma3_1b_pretrain_config"),
    Family("qwen 2.5", "qwen.qwen2", "qwen25_7b_pretrain_config"),
    Family("qwen 3", "qwen.qwen3", "qwen3_8b_pretrain_config"),
    Family("qwen 3 experts", "qwen.qwen3_moe", "qwen3_30b_a3b_pretrain_config", experts=True),
    Family("glm 4.5", "glm.glm45", "glm45_355b_pretrain_config", experts=True),
    Family("gpt-oss", "gpt_oss.gpt_oss", "gpt_oss_20b_pretrain_config", experts=True),
    Family("olmoe", "olmoe.olmoe_7b", "olmoe_7b_pretrain_config", experts=True),
    Family("deepseek v2", "deepseek.deepseek_v2", "deepseek_v2_lite_pretrain_config", experts=True),
    Family("moonlight", "moonlight.moonlight_16b", "moonlight_16b_pretrain_config", experts=True),
    Family("nemotron-h", "nemotronh.nemotronh", "nemotronh_4b_pretrain_config"),
    Family("nemotron 3 nano", "nemotronh.nemotron_3_nano", "nemotron_3_nano_pretrain_config", experts=True),
)

FSDP: Mapping[str, Any] = {
    "dist.use_megatron_fsdp": True,
    "dist.use_torch_fsdp2": False,
    "dist.use_tp_pp_dp_mapping": False,
    "ddp.use_megatron_fsdp": True,
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "ddp.use_distributed_optimizer": True,
    "ddp.overlap_grad_reduce": True,
    "ddp.overlap_param_gather": True,
    "ddp.average_in_collective": False,
    "optimizer.use_distributed_optimizer": True,
    "checkpoint.ckpt_format": "fsdp_dtensor",
    "model.pipeline_model_parallel_size": 1,
    "model.virtual_pipeline_model_parallel_size": None,
    "model.pipeline_model_parallel_layout": None,
    "comm_overlap": None,
}
"""What turns it on, and off what it does not go together with."""

_PLAIN = {
    "dist.use_megatron_fsdp": False,
    "ddp.use_megatron_fsdp": False,
    "ddp.data_parallel_sharding_strategy": "no_shard",
    "checkpoint.ckpt_format": "torch_dist",
}

RIGHT = (
    Way("as the guide has it"),
    Way("ZeRO-2", {"ddp.data_parallel_sharding_strategy": "optim_grads"}),
    Way("plain DDP", _PLAIN),
    Way("plain DDP, no overlap", {**_PLAIN, "ddp.overlap_param_gather": False, "ddp.overlap_grad_reduce": False}),
    Way("no checkpoints", {"checkpoint.save": None, "checkpoint.load": None}),
    Way("its own checkpoints", {"checkpoint.save": "/results/run", "checkpoint.load": "/results/run"}),
    Way(
        "no checkpoints, torch_dist",
        {"checkpoint.save": None, "checkpoint.load": None, "checkpoint.ckpt_format": "torch_dist"},
    ),
    Way("loss per token", {"model.calculate_per_token_loss": True}),
    Way("no look for NaN", {"ddp.check_for_nan_in_grad": False}),
    Way(
        "full recomputation",
        {"model.recompute_granularity": "full", "model.recompute_method": "uniform", "model.recompute_num_layers": 1},
    ),
    Way("another learning rate", {"optimizer.lr": 1e-5, "optimizer.min_lr": 1e-6, "optimizer.weight_decay": 0.0}),
    Way("gradients in fp32", {"ddp.grad_reduce_in_fp32": True}),
    Way("no clipping", {"optimizer.clip_grad": 0.0}),
    Way(
        "one rank a model",
        {"model.tensor_model_parallel_size": 1, "model.sequence_parallel": False, "model.context_parallel_size": 1},
    ),
    Way("HSDP", {"ddp.num_distributed_optimizer_instances": 2}, dense=True),
    Way("rare saves", {"checkpoint.save": "/results/run", "checkpoint.save_interval": 5000}),
    Way("on the meta device", {"model.init_model_with_meta_device": True}, dense=True),
)


def written(name: str, family: Family, settings: Mapping[str, Any]) -> str:
    """Write a module with one recipe: that of the family, Megatron-FSDP, and then the settings."""
    lines = [
        "import os",
        "",
        "import torch",
        "from megatron.bridge.peft.lora import LoRA",
        f"from megatron.bridge.recipes.{family.module} import {family.function}",
        "from megatron.bridge.training.comm_overlap import CommOverlapConfig",
        "from megatron.bridge.training.config import ConfigContainer",
        "from megatron.bridge.training.mixed_precision import bf16_mixed",
        *sorted({_imported(value) for value in settings.values() if _is_function(value)}),
        "",
        "",
        f"def {name}() -> ConfigContainer:",
        f"    cfg = {family.function}()",
        *(f"    {line}" for line in _lines({**FSDP, **settings})),
        "    return cfg",
    ]
    return "\n".join(lines) + "\n"


_SECTIONS = {
    "comm_overlap": "CommOverlapConfig(tp_comm_overlap=False)",
    "mixed_precision": "bf16_mixed()",
    "peft": "LoRA()",
}
"""What a section is made of whose fields are set: recipes have None there, or a name."""


def _lines(settings: Mapping[str, Any]) -> Iterator[str]:
    made = set()
    for path, value in settings.items():
        section, _, rest = path.partition(".")
        if path.startswith("env."):
            yield f'os.environ["{rest}"] = "{value}"' if value is not None else f'os.environ.pop("{rest}", None)'
            continue
        inside = any(other.startswith(f"{path}.") for other in settings)
        if path in _SECTIONS and inside:
            continue
        if section in _SECTIONS and rest and section not in made:
            made.add(section)
            yield f"cfg.{section} = {_SECTIONS[section]}"
        yield f"cfg.{path} = {_spelled(value)}"


def _is_function(value: object) -> bool:
    return isinstance(value, str) and value.startswith("<function ")


def _imported(value: str) -> str:
    module, _, name = value[len("<function ") : -1].rpartition(".")
    return f"from {module} import {name}"


def _spelled(value: Any) -> str:
    if _is_function(value):
        return value[:-1].rpartition(".")[2]
    if isinstance(value, str) and value.startswith("torch."):
        return value
    return repr(value)
