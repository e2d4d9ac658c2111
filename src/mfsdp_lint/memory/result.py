"""Cost of a configuration's model state on each rank, and the sources of the formulas: plain data, for reports.

Sources are lines of megatron-core, as each supported Megatron-Bridge release pins it.
"""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.versions.target import Target


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes on a rank, and the formula with its numbers filled in: `2 B × 1,000 ÷ 8`.

    `bytes` is None where they are not known; then `why` names the setting, or the fact, that is missing.
    """

    bytes: int | None
    formula: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The four parts of model state on a rank, with the model wrapped in one way.

    `key` names the wrapping for programs, `label` for people. `runs` marks the one that the recipe itself has.
    `main_parameters` are the copy that the optimizer steps, in more bits than the model computes with.
    """

    key: str
    label: str
    runs: bool
    parameters: Amount
    gradients: Amount
    main_parameters: Amount
    optimizer_states: Amount

    @property
    def amounts(self) -> tuple[tuple[str, Amount], ...]:
        """The parts by name, in the order in which they are shown."""
        return (
            ("parameters", self.parameters),
            ("gradients", self.gradients),
            ("main parameters", self.main_parameters),
            ("optimizer states", self.optimizer_states),
        )

    @property
    def total(self) -> Amount:
        """All four; not known where one of them is not."""
        parts = [amount.bytes for _, amount in self.amounts]
        known = [each for each in parts if each is not None]
        if len(known) == len(parts):
            return Amount(sum(known))
        return Amount(None, why="; ".join(dict.fromkeys(amount.why for _, amount in self.amounts if amount.why)))


@dataclass(frozen=True, slots=True)
class GivenParameters:
    """Parameters that somebody counted: of the whole model, and of those the ones in its experts, if that is known."""

    total: int
    experts: int | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Number of parameters: in the whole model, and on the rank that has most of them.

    `dense` and `experts` are those of that rank before data parallelism shards them; `formula` explains the numbers.
    """

    total: int
    dense: int
    experts: int
    formula: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormulaSource:
    """A line of upstream's that a formula was read in: `megatron/core/…:123` of `release`, and what it says."""

    says: str
    place: str
    release: str


@dataclass(frozen=True, slots=True)
class Memory:
    """The model state of one recipe on each rank, wrapped in every way that Megatron has.

    `ranks` is the number of ranks, None where nobody said it. `shards` and `expert_shards` are how many ranks share
    what is sharded. `count` is None where the parameters are not known, and `why` then says what they depend on.
    `own_why` says why no footprint is the recipe's own, where none is.
    `left_out` is what else takes memory and is not estimated.
    """

    ranks: int | None
    shards: int | None
    expert_shards: int | None
    count: Count | None
    why: str
    footprints: tuple[Footprint, ...]
    sources: tuple[FormulaSource, ...]
    left_out: tuple[str, ...]
    own_why: str = ""

    @property
    def own(self) -> Footprint | None:
        """The footprint of the recipe as it is wrapped; None where that is not known."""
        return next((each for each in self.footprints if each.runs), None)


MemoryOf = Callable[[Recipe], Memory]
"""Estimates the memory of a recipe."""


_RELEASES = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")
_FSDP = "distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py"
_BUFFERS = "distributed/param_and_grad_buffer.py"
_OPTIMIZER = "optimizer/__init__.py"


@dataclass(frozen=True, slots=True)
class _Read:
    """Fact that lines of core state; the lines in the order of _RELEASES, 0 if a release has none."""

    says: str
    path: str
    lines: tuple[int, int, int, int, int, int]


_READ = (
    _Read(
        "ranks that share a dense weight: world ÷ (TP × PP × CP), and CP shards too",
        "parallel_state.py",
        (700, 743, 747, 738, 825, 825),
    ),
    _Read("ranks that share an expert: world ÷ (ETP × EP × PP)", "parallel_state.py", (748, 791, 795, 786, 880, 880)),
    _Read(
        "gradients of DDP: fp32 with grad_reduce_in_fp32, else as the weights",
        "distributed/distributed_data_parallel.py",
        (168, 147, 148, 0, 0, 0),
    ),
    _Read("gradients of DDP: fp32 with grad_reduce_in_fp32, else as the weights", _BUFFERS, (0, 0, 0, 859, 917, 924)),
    _Read(
        "distributed optimizer: whole weights in a buffer, gradients in another",
        _BUFFERS,
        (716, 797, 1053, 1116, 1176, 1184),
    ),
    _Read(
        "DDP: fp32 main parameters of weights in 16 bits", "optimizer/optimizer.py", (670, 674, 675, 702, 1012, 1012)
    ),
    _Read(
        "distributed optimizer: fp32 main parameters of a rank's part",
        "optimizer/distrib_optimizer.py",
        (396, 399, 404, 422, 433, 445),
    ),
    _Read("Adam: two states for each parameter that is stepped", _OPTIMIZER, (402, 397, 581, 594, 594, 596)),
    _Read("precision-aware: dtypes of the states", _OPTIMIZER, (373, 368, 552, 565, 565, 567)),
    _Read(
        "precision-aware with Megatron-FSDP: main parameters are FSDP's alone", _OPTIMIZER, (0, 0, 0, 1087, 1126, 1152)
    ),
    _Read(
        "offload: the optimizer's part up to a fraction of the parameters",
        "optimizer/cpu_offloading/hybrid_optimizer.py",
        (258, 258, 258, 258, 258, 258),
    ),
    _Read("Megatron-FSDP: what each strategy shards", _FSDP, (1738, 1849, 1924, 1935, 2323, 2330)),
    _Read("Megatron-FSDP: the buffer of main parameters", _FSDP, (1849, 2005, 2278, 2290, 2687, 2694)),
    _Read("Megatron-FSDP: what gradients are added up in", _FSDP, (1874, 2030, 2216, 2228, 2310, 2317)),
    _Read("Megatron-FSDP: HSDP that shards over the instances too", _FSDP, (1785, 1902, 2092, 2103, 2491, 2498)),
    _Read(
        "torch FSDP2: every weight is sharded, and so are gradients and states",
        "distributed/torch_fully_sharded_data_parallel.py",
        (134, 134, 134, 134, 136, 136),
    ),
)

LEFT_OUT = (
    "activations",
    "weights and gradients that are gathered for a while (the units of FSDP at work, twice with fsdp_double_buffer)",
    "gradients that the optimizer's step copies to fp32 where they are added up in 16 bits",
    "what pads buffers so that they divide among ranks",
    "communication buffers, workspaces, CUDA's own, the loss of fragmentation",
)
"""Other uses of memory, which are not estimated."""


def sources_of(target: Target) -> tuple[FormulaSource, ...]:
    """Return the lines for a target, by the release whose data is used for it."""
    column = _RELEASES.index(target.data) if target.data in _RELEASES else len(_RELEASES) - 1
    release = f"the megatron-core of megatron-bridge {_RELEASES[column]}"
    return tuple(
        FormulaSource(read.says, f"megatron/core/{read.path}:{read.lines[column]}", release)
        for read in _READ
        if read.lines[column]
    )
