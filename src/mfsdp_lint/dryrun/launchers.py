"""Command lines that start the ranks: that of torch's own launcher, and that of Slurm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from mfsdp_lint.dryrun.device import Device

Launcher = Literal["torchrun", "srun"]

AGENT = ("--standalone", "--max-restarts", "0")
"""How torch's launcher is to work: alone on its machine, and giving up where a rank fails."""


def srun_line(command: Sequence[str], ranks: int, device: Device, seconds: float) -> list[str]:
    """Return Slurm's command: it starts every rank itself, as a task; all on one node. After `seconds` it ends them."""
    return [
        "srun",
        "--nodes=1",
        f"--ntasks={ranks}",
        *([f"--gpus-per-node={ranks}"] if device.is_gpu else []),
        f"--time={math.ceil(seconds / 60)}",
        "--kill-on-bad-exit=1",
        *command,
    ]


def torchrun_line(command: Sequence[str], ranks: int) -> list[str]:
    """Return the command of torch's own launcher, where it is on the PATH."""
    return ["torchrun", *AGENT, "--nproc-per-node", str(ranks), *command]
