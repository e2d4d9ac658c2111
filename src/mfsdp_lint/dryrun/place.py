"""Place where ranks run: its device, the most ranks there, and the launcher."""

from __future__ import annotations

import shutil
from typing import Literal

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.dryrun.containment import MEMORY
from mfsdp_lint.dryrun.device import A_CLUSTER, CPU, Device
from mfsdp_lint.dryrun.inventory import Installed
from mfsdp_lint.dryrun.jobs import Job, answered, empty, writing
from mfsdp_lint.dryrun.ranks import By, launched
from mfsdp_lint.inputs.options import UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """`most` ranks can be there, None for any number; `memory` is for each process, 0 for no limit.

    `by` launches, where that is not torch here; then `jobs` are those that it has only written.
    """

    device: Device
    most: int | None
    memory: int
    by: By | None = None
    jobs: list[Job] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for a dry run: `memory` is None where nobody sets it, `answers` the folder of jobs that have been run."""

    tier: Literal["auto", "introspect", "cpu", "gpu"]
    ranks: int
    launcher: Literal["torchrun", "srun", "print"]
    timeout: float
    memory: int | None
    keep: str | None
    answers: str | None

    def limit(self, device: Device) -> int:
        """Return the memory limit of a process there; none on a GPU, whose driver maps more than anybody uses."""
        if self.memory is not None:
            return self.memory
        return 0 if device.is_gpu else MEMORY


def place(wanted: Wanted, installed: Installed) -> Place:
    """Choose the place for a request. Raises UsageError where it cannot run."""
    most = 1 if wanted.ranks == 1 else None
    if wanted.tier == "introspect" and (wanted.answers or wanted.launcher != "torchrun"):
        raise UsageError("--tier introspect has no ranks that anybody could launch")
    if wanted.answers:
        by, device = answered(wanted.answers, installed)
        return Place(device, most, wanted.limit(device), by)
    if wanted.launcher == "print":
        return _elsewhere(wanted, most)
    if wanted.launcher == "srun":
        return _under_slurm(wanted, installed, most)
    device = installed.device(wanted.tier, wanted.ranks)
    return Place(device, len(installed.gpus) if device.is_gpu else most, wanted.limit(device))


def _elsewhere(wanted: Wanted, most: int | None) -> Place:
    if not wanted.keep:
        raise UsageError("--launcher print: say with --keep which folder to write the jobs to")
    device = CPU if wanted.tier == "cpu" else A_CLUSTER
    jobs: list[Job] = []
    return Place(device, most, wanted.limit(device), writing(empty(wanted.keep), wanted.timeout, device, jobs), jobs)


def _under_slurm(wanted: Wanted, installed: Installed, most: int | None) -> Place:
    if shutil.which("srun") is None:
        raise UsageError("--launcher srun: there is no srun on the PATH; with print it can be run where there is")
    device = installed.on_the_nodes(wanted.tier, wanted.ranks)
    memory = wanted.limit(device)
    by = launched(
        installed.python, timeout=wanted.timeout, keep=wanted.keep, memory=memory, device=device, launcher="srun"
    )
    return Place(device, most, memory, by)
