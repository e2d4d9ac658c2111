"""Device that a dry run trains on, and its abilities. Everything that depends on it takes it as data."""

from __future__ import annotations

from typing import Literal

from mfsdp_lint.core.records import dataclass

Tier = Literal["introspect", "cpu", "gpu"]
Trains = Literal["cpu", "gpu"]


@dataclass(frozen=True, slots=True)
class Device:
    """`backend` is that of torch.distributed, `capability` the GPUs' compute capability."""

    kind: Literal["cpu", "cuda"]
    backend: Literal["gloo", "nccl"]
    transformer_engine: bool = False
    capability: tuple[int, int] = (0, 0)

    @property
    def tier(self) -> Trains:
        """The tier that trains on it."""
        return "cpu" if self.kind == "cpu" else "gpu"

    @property
    def decides(self) -> tuple[Trains, ...]:
        """Training here decides what these tiers decide."""
        return ("cpu", "gpu") if self.is_gpu else ("cpu",)

    @property
    def is_gpu(self) -> bool:
        """Tell whether CUDA is real here."""
        return self.kind == "cuda"

    @property
    def computes_in_8_bits(self) -> bool:
        """Tell whether Transformer Engine has kernels for fp8 here: on Ada, Hopper and later GPUs."""
        return self.transformer_engine and self.capability >= (8, 9)

    @property
    def computes_in_blocks(self) -> bool:
        """Tell whether it has kernels that scale by blocks of 32 or 16 numbers (mxfp8, nvfp4): on Blackwell."""
        return self.transformer_engine and self.capability >= (10, 0)


CPU = Device("cpu", "gloo")

A_CLUSTER = Device("cuda", "nccl", transformer_engine=True, capability=(9, 0))
"""What a job is written for that runs on another machine: Hopper, in a container for training."""
