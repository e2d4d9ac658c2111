"""Facts of settings that will run, as formulas need them: known values, or the reason why there are none; the groups of
ranks; the way in which Megatron wraps the model and what it shards; the bytes of each parameter.

Groups: megatron-core 0.16.1, core/parallel_state.py:738-743 (sizes) and 787-791 (experts). The groups that shard have
the ranks of context parallelism in them (`with_context_parallel=True`). Facts in SHARDED: megatron-core 0.16.1,
distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py:1845-1864. `estimate` has the places of the bytes.
"""

from __future__ import annotations

from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, OneOf, Plain, Unknown, describe
from mfsdp_lint.megatron.versions import parse_range


class NotModelled(Exception):
    """The error for a result that depends on an unknown value; the text names it."""


class SettingFacts:
    """The settings of one path through a recipe. Every method raises NotModelled for what has no single known value."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get(self, path: str) -> Plain:
        """Return the value of a setting. Raises NotModelled."""
        value = self._settings.value(path)
        if isinstance(value, Known):
            return value.value
        if isinstance(value, Unknown):
            raise NotModelled(f"{path} is not known")
        raise NotModelled(f"{path} is {describe(value)}{'' if isinstance(value, OneOf) else ' to what is not known'}")

    def has(self, path: str) -> bool:
        """Tell whether anything is known of a setting: a release may not have it."""
        return path in self._settings

    def if_any(self, path: str) -> Plain:
        """Return the value of a setting that not every release has; None if it is not there."""
        return self.get(path) if self.has(path) else None

    def known(self, path: str) -> Plain:
        """Return the value of a setting; None if it is not known."""
        value = self._settings.value(path)
        return value.value if isinstance(value, Known) else None

    def one_of(self, path: str) -> tuple[Plain, ...]:
        """Return the values that a setting may have. Raises NotModelled if they are not known."""
        value = self._settings.value(path)
        return tuple(value.values) if isinstance(value, OneOf) else (self.get(path),)

    def on(self, path: str) -> bool:
        """Tell whether a switch is on."""
        return bool(self.get(path))

    def number(self, path: str) -> int:
        """Return a whole number that is not negative."""
        value = self.get(path)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise NotModelled(f"{path} is {value!r}, which is no number of anything")
        return value

    def size(self, path: str, default: int | None = None) -> int:
        """Return a number of at least one; `default` replaces None, if it is given."""
        if default is not None and self.get(path) is None:
            return default
        value = self.number(path)
        if not value:
            raise NotModelled(f"{path} is 0")
        return value


@dataclass(frozen=True, slots=True)
class RankGroups:
    """The parallel sizes of a run. `expert_tensor` is what an expert's weights are split by."""

    tensor: int
    pipeline: int
    context: int
    expert: int
    expert_tensor: int

    def shards(self, ranks: int | None) -> int:
        """Count the ranks that have the same part of dense weights. Raises NotModelled, also if they are unknown."""
        return self._divided(ranks, "TP × PP × CP", self.tensor * self.pipeline * self.context) * self.context

    def expert_shards(self, ranks: int | None) -> int:
        """Count the ranks that have the same experts. Raises NotModelled, also if the ranks are unknown."""
        return self._divided(ranks, "ETP × EP × PP", self.expert_tensor * self.expert * self.pipeline)

    def _divided(self, ranks: int | None, name: str, by: int) -> int:
        if ranks is None:
            raise NotModelled("the number of ranks is not known (--world-size)")
        if ranks % by:
            raise NotModelled(f"{ranks} ranks do not divide by {name} = {by}")
        return ranks // by


def layout_of(facts: SettingFacts) -> RankGroups:
    """Read the sizes from settings. Raises NotModelled."""
    tensor = facts.size("model.tensor_model_parallel_size")
    return RankGroups(
        tensor=tensor,
        pipeline=facts.size("model.pipeline_model_parallel_size"),
        context=facts.size("model.context_parallel_size"),
        expert=facts.size("model.expert_model_parallel_size", 1),
        expert_tensor=facts.size("model.expert_tensor_parallel_size", tensor),
    )


DDP, DISTRIBUTED, MEGATRON, TORCH = "ddp", "distributed_optimizer", "megatron_fsdp", "torch_fsdp2"
STRATEGIES = ("no_shard", "optim", "optim_grads", "optim_grads_params")

SHARDED = {
    "no_shard": frozenset(),
    "optim": frozenset({"optimizer"}),
    "optim_grads": frozenset({"optimizer", "gradients"}),
    "optim_grads_params": frozenset({"optimizer", "gradients", "parameters"}),
}
"""Parts that each strategy of Megatron-FSDP shards; "optimizer" is the main parameters and the optimizer's states."""

_INSTANCES = "ddp.num_distributed_optimizer_instances"
_STRATEGY = "ddp.data_parallel_sharding_strategy"
_OUTER = "ddp.outer_dp_sharding_strategy"


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A way of wrapping. `instances` groups of ranks each have a whole copy of the model; hybrid sharding has several.

    `outer`: the optimizer's part is sharded over these groups as well.
    """

    kind: str
    strategy: str = ""
    instances: int = 1
    outer: bool = False

    @property
    def key(self) -> str:
        parts = (self.kind, self.strategy, f"x{self.instances}" if self.instances > 1 else "", "outer" * self.outer)
        return ":".join(filter(None, parts))

    @property
    def label(self) -> str:
        """`Megatron-FSDP optim, HSDP ×2`."""
        names = {DDP: "DDP", DISTRIBUTED: "distributed optimizer", TORCH: "torch FSDP2"}
        name = names.get(self.kind, f"Megatron-FSDP {self.strategy}")
        if self.instances == 1:
            return name
        hybrid = f"HSDP ×{self.instances}" if self.kind == MEGATRON else f"×{self.instances}"
        return f"{name}, {hybrid}{', outer optim' if self.outer else ''}"

    @property
    def sharded(self) -> frozenset[str]:
        """The parts among "parameters", "gradients" and "optimizer" that are sharded over the ranks of a group."""
        as_strategies = {DDP: "no_shard", DISTRIBUTED: "optim", TORCH: "optim_grads_params"}
        return SHARDED[as_strategies.get(self.kind, self.strategy)]

    def settings(self) -> dict[str, Plain]:
        """Return the settings that wrap a recipe in this way."""
        distributed = self.kind in (DISTRIBUTED, MEGATRON)
        return {
            "dist.use_megatron_fsdp": self.kind == MEGATRON,
            "ddp.use_megatron_fsdp": self.kind == MEGATRON,
            "dist.use_torch_fsdp2": self.kind == TORCH,
            "ddp.use_distributed_optimizer": distributed,
            "optimizer.use_distributed_optimizer": distributed,
            _STRATEGY: self.strategy or "no_shard",
            _INSTANCES: self.instances,
            _OUTER: "optim" if self.outer else "no_shard",
        }


def wrappings(instances: int) -> tuple[Wrapping, ...]:
    """Return every way of wrapping; the hybrid ones have this number of instances."""
    return (
        Wrapping(DDP),
        Wrapping(DISTRIBUTED),
        Wrapping(DISTRIBUTED, instances=instances),
        *(Wrapping(MEGATRON, strategy) for strategy in STRATEGIES),
        *(Wrapping(MEGATRON, strategy, instances) for strategy in STRATEGIES),
        Wrapping(MEGATRON, STRATEGIES[-1], instances, outer=True),
        Wrapping(TORCH),
    )


def wrapping_of(facts: SettingFacts) -> Wrapping:
    """Find how settings that will run wrap the model. Raises NotModelled, also for ways that Megatron does not have."""
    megatron = facts.on("dist.use_megatron_fsdp") or facts.on("ddp.use_megatron_fsdp")
    torch = facts.on("dist.use_torch_fsdp2")
    if megatron and torch:
        raise NotModelled("both kinds of FSDP are on")
    if torch:
        return Wrapping(TORCH)
    instances = facts.size(_INSTANCES)
    if not megatron:
        distributed = facts.on("ddp.use_distributed_optimizer")
        return Wrapping(DISTRIBUTED, instances=instances) if distributed else Wrapping(DDP)
    need_first_version(facts)
    strategy = facts.get(_STRATEGY)
    if strategy not in STRATEGIES:
        raise NotModelled(f"{_STRATEGY} is {strategy!r}, which Megatron does not have")
    outer = instances > 1 and facts.if_any(_OUTER) not in (None, "no_shard")
    if outer and strategy != STRATEGIES[-1]:
        # megatron-core 0.16.1 raises: the buffer of an instance is sharded, and what is to be a part of it is not.
        raise NotModelled(f"{_OUTER} is set and {_STRATEGY} is {strategy!r}, which is not modelled")
    return Wrapping(MEGATRON, str(strategy), instances, outer)


def need_first_version(facts: SettingFacts) -> None:
    """Raise NotModelled if Megatron-FSDP is the second one, which head has beside the first."""
    version = facts.if_any("ddp.megatron_fsdp_version")
    if version not in (None, 1):
        raise NotModelled(f"ddp.megatron_fsdp_version is {version}, which is not modelled")


_BYTES = {"torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.uint8": 1}

_MASTER_OF_ITS_OWN = parse_range("<0.18")
"""Cores in which the fused Adam keeps master weights beside those of Megatron-FSDP."""
_DTYPES = parse_range(">=0.17")
"""Cores in which Megatron-FSDP's buffers have dtypes of their own."""
_REDUCED_IN_FP32 = parse_range("<0.19")
"""Cores in which grad_reduce_in_fp32 counts for Megatron-FSDP."""

_PRECISION_AWARE = "optimizer.use_precision_aware_optimizer"
_CPU_OFFLOAD = "optimizer.optimizer_cpu_offload"


@dataclass(frozen=True, slots=True)
class Precision:
    """Bytes of each parameter, by settings that will run, a wrapping and a megatron-core. Methods raise NotModelled."""

    facts: SettingFacts
    kind: str
    core: str

    def parameters(self) -> int:
        """Return the bytes of a weight that the model computes with."""
        for bits in ("fp8", "fp4"):
            path, if_any = f"ddp.{bits}_param_gather", self.facts.if_any
            if self.facts.has(path) and (
                self.facts.on(path) or (if_any(f"model.{bits}") and if_any(f"model.{bits}_param"))
            ):
                why = "what Transformer Engine keeps beside them is not modelled"
                raise NotModelled(f"weights are kept in {bits}: {why}")
        return self.weight()

    def weight(self) -> int:
        """Return the bytes of a weight if nothing is in eight bits."""
        if self.facts.on("model.bf16") or self.facts.on("model.fp16"):
            return 2
        return self._bytes("model.params_dtype")

    def gradients(self) -> int:
        """Return the bytes of a gradient as it is accumulated."""
        self._need_trained()
        if self.kind == TORCH:
            return self.weight()
        if self.facts.if_any("ddp.param_name_patterns_for_fp32_local_accumulation"):
            raise NotModelled("ddp.param_name_patterns_for_fp32_local_accumulation is set, which is not modelled")
        if self.kind != MEGATRON or self.core in _REDUCED_IN_FP32:
            if self.facts.on("ddp.grad_reduce_in_fp32"):
                return 4
            if self.kind != MEGATRON or self.core not in _DTYPES:
                return self.weight()
        own = "ddp.megatron_fsdp_main_grads_dtype"
        return self.weight() if self.facts.get(own) is None else self._bytes(own)

    def main_parameters(self) -> int:
        """Return the bytes of a weight that the optimizer steps, if it is a copy of the model's own; else 0."""
        self._need_trained()
        if self.kind == MEGATRON:
            if self.facts.on(_PRECISION_AWARE) and self.core in _MASTER_OF_ITS_OWN:
                two = "in this megatron-core two keep main parameters, not modelled"
                raise NotModelled(f"{_PRECISION_AWARE} is on: {two}")
            if self.core not in _DTYPES:
                return 4 if self.facts.on("ddp.preserve_fp32_weights") else 0
            own = "ddp.megatron_fsdp_main_params_dtype"
            return 0 if self.facts.get(own) is None else self._bytes(own)
        if self.weight() == 4:
            return 0
        if self.kind == DISTRIBUTED:
            return self._main_of_the_distributed_optimizer()
        if not (self.facts.on("optimizer.bf16") or self.facts.on("optimizer.fp16")):
            raise NotModelled("weights have 16 bits, and neither optimizer.bf16 nor optimizer.fp16 is on: not modelled")
        return 4

    def states(self) -> tuple[int, ...]:
        """Return the bytes of each optimizer state of a parameter; the optimizer's count of steps is left out."""
        self._need_trained()
        self._need_known_offload()
        optimizer = self.facts.get("optimizer.optimizer")
        if optimizer == "sgd":
            return (4,) if self.facts.get("optimizer.sgd_momentum") else ()
        if optimizer != "adam":
            raise NotModelled(f"optimizer.optimizer is {optimizer!r}, which is not modelled")
        if self.facts.on(_PRECISION_AWARE):
            if self.kind in (DDP, TORCH):
                raise NotModelled(f"{_PRECISION_AWARE} is on, which needs the distributed optimizer")
            if self.facts.on(_CPU_OFFLOAD):
                return (4, 4)  # whose inner optimizers are not told of dtypes
            return self._bytes("optimizer.exp_avg_dtype"), self._bytes("optimizer.exp_avg_sq_dtype")
        if self.weight() != 4 and not self.main_parameters():
            which = "what it keeps for them depends on which Adam it is"
            raise NotModelled(f"the optimizer steps weights of 16 bits: {which}")
        return (4, 4)

    def on_the_device(self) -> float:
        """Return the fraction of the optimizer's states that is not offloaded to the host."""
        if not self.facts.on(_CPU_OFFLOAD):
            return 1.0
        part = self.facts.get("optimizer.optimizer_offload_fraction")
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 <= part <= 1:
            raise NotModelled(f"optimizer.optimizer_offload_fraction is {part!r}")
        return 1.0 - part

    def _main_of_the_distributed_optimizer(self) -> int:
        self._need_known_offload()
        # Core's `use_precision_aware_optimizer_no_fp8_or_ds_fp8` tells whether Adam keeps them.
        if not self.facts.on(_PRECISION_AWARE):
            return 4
        of_adam = self._bytes("optimizer.main_params_dtype") != 4 or self.facts.on(_CPU_OFFLOAD)
        if not of_adam and self.facts.get("optimizer.fp8_recipe") not in (None, "delayed"):
            return 4
        if self.facts.on(_CPU_OFFLOAD):
            raise NotModelled(f"{_CPU_OFFLOAD} is on with {_PRECISION_AWARE}: not modelled")
        main = self._bytes("optimizer.main_params_dtype")
        # Of 32 bits the weights in bf16 have the first half.
        remainders = main == 4 and self.facts.on("optimizer.store_param_remainders") and self.facts.on("model.bf16")
        return 2 if remainders else main

    def _need_trained(self) -> None:
        """Raise NotModelled if weights are frozen: they have neither gradients nor main parameters."""
        if self.facts.has("peft") and self.facts.get("peft") is not None:
            raise NotModelled("peft is set: how many parameters are trained is not modelled")
        if self.facts.if_any("model.freeze_language_model"):
            raise NotModelled("model.freeze_language_model is on: how many parameters are trained is not modelled")

    def _need_known_offload(self) -> None:
        if self.facts.on(_CPU_OFFLOAD) and self.kind != DISTRIBUTED:
            raise NotModelled(f"{_CPU_OFFLOAD} is on, which is modelled for the distributed optimizer alone")

    def _bytes(self, path: str) -> int:
        dtype: Plain = self.facts.get(path)
        if not isinstance(dtype, str) or dtype not in _BYTES:
            raise NotModelled(f"{path} is {dtype!r}, of which the size is not known")
        return _BYTES[dtype]
