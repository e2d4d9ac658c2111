"""The ways in which Megatron wraps a model, as the settings that ask for each, and what each shards.

Facts in SHARDED: megatron-core 0.16.1, distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py:1845-1864.
"""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.recipe import Setting, Settings
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import Known, Plain, Value
from mfsdp_lint.memory.facts import Facts, NotKnown

DDP, DISTRIBUTED, MEGATRON, TORCH = "ddp", "distributed_optimizer", "megatron_fsdp", "torch_fsdp2"
STRATEGIES = ("no_shard", "optim", "optim_grads", "optim_grads_params")

SHARDED = {
    "no_shard": frozenset(),
    "optim": frozenset({"optimizer"}),
    "optim_grads": frozenset({"optimizer", "gradients"}),
    "optim_grads_params": frozenset({"optimizer", "gradients", "parameters"}),
}
"""What each strategy of Megatron-FSDP shards; "optimizer" is the main parameters and the optimizer's states."""

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
        name = {
            DDP: "DDP",
            DISTRIBUTED: "distributed optimizer",
            MEGATRON: f"Megatron-FSDP {self.strategy}",
            TORCH: "torch FSDP2",
        }[self.kind]
        if self.instances == 1:
            return name
        hybrid = f"HSDP ×{self.instances}" if self.kind == MEGATRON else f"×{self.instances}"
        return f"{name}, {hybrid}{', outer optim' if self.outer else ''}"

    @property
    def sharded(self) -> frozenset[str]:
        """The parts among "parameters", "gradients" and "optimizer" that are sharded over the ranks of a group."""
        if self.kind == MEGATRON:
            return SHARDED[self.strategy]
        return {
            DDP: frozenset[str](),
            DISTRIBUTED: frozenset({"optimizer"}),
            TORCH: frozenset({"optimizer", "gradients", "parameters"}),
        }[self.kind]

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


def wrapping_of(facts: Facts) -> Wrapping:
    """Find how settings that will run wrap the model. Raises NotKnown, also for ways that Megatron does not have."""
    megatron = facts.on("dist.use_megatron_fsdp") or facts.on("ddp.use_megatron_fsdp")
    torch = facts.on("dist.use_torch_fsdp2")
    if megatron and torch:
        raise NotKnown("both kinds of FSDP are on")
    if torch:
        return Wrapping(TORCH)
    instances = facts.size(_INSTANCES)
    if megatron:
        return _megatron(facts, instances)
    distributed = facts.on("ddp.use_distributed_optimizer")
    return Wrapping(DISTRIBUTED, instances=instances) if distributed else Wrapping(DDP)


def need_first_version(facts: Facts) -> None:
    """Raise NotKnown if Megatron-FSDP is the second one, which head has beside the first."""
    version = facts.if_any("ddp.megatron_fsdp_version")
    if version not in (None, 1):
        raise NotKnown(f"ddp.megatron_fsdp_version is {version}, which is not modelled")


def _megatron(facts: Facts, instances: int) -> Wrapping:
    need_first_version(facts)
    strategy = facts.get(_STRATEGY)
    if strategy not in STRATEGIES:
        raise NotKnown(f"{_STRATEGY} is {strategy!r}, which Megatron does not have")
    outer = instances > 1 and facts.if_any(_OUTER) not in (None, "no_shard")
    if outer and strategy != STRATEGIES[-1]:
        # megatron-core 0.16.1 raises: the buffer of an instance is sharded, and what is to be a part of it is not.
        raise NotKnown(f"{_OUTER} is set and {_STRATEGY} is {strategy!r}, which is not modelled")
    return Wrapping(MEGATRON, str(strategy), instances, outer)


class Wrapped(Layer):
    """Settings with those of a wrapping on top."""

    __slots__ = ("_values",)

    def __init__(self, below: Settings, wrapping: Wrapping) -> None:
        super().__init__(below)
        self._values = {path: Known(value) for path, value in wrapping.settings().items()}

    def get(self, path: str) -> Setting | None:
        known = self._values.get(path)
        return self.below.get(path) if known is None else Setting(path, known)

    def value(self, path: str) -> Value:
        return self._values.get(path) or self.below.value(path)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self.below, *self._values))
