"""Sources of the formulas: lines of megatron-core, as each supported Megatron-Bridge release pins it."""

from __future__ import annotations

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.memory.result import Source

_RELEASES = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")
_FSDP = "distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py"
_BUFFERS = "distributed/param_and_grad_buffer.py"


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
    _Read(
        "Adam: two states for each parameter that is stepped",
        "optimizer/__init__.py",
        (402, 397, 581, 594, 594, 596),
    ),
    _Read("precision-aware: dtypes of the states", "optimizer/__init__.py", (373, 368, 552, 565, 565, 567)),
    _Read(
        "precision-aware with Megatron-FSDP: main parameters are FSDP's alone",
        "optimizer/__init__.py",
        (0, 0, 0, 1087, 1126, 1152),
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
"""What else takes memory."""


def sources_of(target: Target) -> tuple[Source, ...]:
    """Return the lines for a target, by the release whose data is used for it."""
    column = _RELEASES.index(target.data) if target.data in _RELEASES else len(_RELEASES) - 1
    release = f"the megatron-core of megatron-bridge {_RELEASES[column]}"
    return tuple(
        Source(read.says, f"megatron/core/{read.path}:{read.lines[column]}", release)
        for read in _READ
        if read.lines[column]
    )
