"""Executor of a dry run: this machine, or a cluster; the device there, and what answers the questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.dryrun import jobs
from mfsdp_lint.dryrun.containment import MEMORY
from mfsdp_lint.dryrun.inventory import CPU, Device, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, LaunchJob
from mfsdp_lint.dryrun.ranks import Answers, By, RunRequest, Tell, launched
from mfsdp_lint.inputs.options import Executor, UsageError

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Asked:
    """Options that choose the place of a dry run. `memory` is None where nobody sets it."""

    executor: Executor
    tier: Literal["auto", "introspect", "cpu", "gpu"]
    ranks: int
    timeout: float
    memory: int | None = None
    keep: str | None = None
    resume: bool = False
    print_job: bool = False
    jobs: JobOptions = JobOptions()


@dataclass(frozen=True, slots=True)
class Place:
    """`most` ranks can be there, None for any number; `memory` is for each process, 0 for no limit.

    `by` answers the questions. With `scripts` it only writes `jobs`, for which these are the scripts; `python` is the
    one that they run. `queue` is the name of who would get them.
    """

    device: Device
    most: int | None
    memory: int
    by: By
    jobs: list[LaunchJob] = field(default_factory=list)
    scripts: Callable[[Sequence[LaunchJob]], list[str]] | None = None
    python: str = ""
    queue: str = ""


_OF_SLURM = {"partition": "partition", "account": "account", "image": "container-image", "mounts": "container-mounts"}
"""The options that only Slurm has, by the names of their fields."""


def place(installed: Installed, asked: Asked, note: Callable[[str], None]) -> Place:
    """Choose the place for a dry run. `note` hears what stays of interest. Raises UsageError."""
    if asked.executor != "local":
        if asked.tier == "introspect":
            raise UsageError(f"--executor {asked.executor}: --tier introspect has no ranks that anybody could start")
        if not asked.keep:
            see = " that this machine and the nodes see" if asked.executor == "slurm" else " for the answers"
            raise UsageError(f"--executor {asked.executor}: name a folder with --keep{see}")
        return _on_a_cluster(installed, asked, asked.keep, note)
    if asked.print_job:
        raise UsageError("--print-job: nothing is submitted without --executor slurm or ray")
    device = installed.device(asked.tier, asked.ranks)
    memory = device.memory if asked.memory is None else asked.memory
    by = launched(
        installed.python,
        timeout=asked.timeout,
        keep=asked.keep,
        memory=memory,
        device=device,
        versions=jobs.versions_of(installed),
    )
    if asked.resume:
        by = jobs.resuming(by, _resumed(asked.keep), device, installed)
    return Place(device, 1 if asked.ranks == 1 else None, memory, by)


def _on_a_cluster(installed: Installed, asked: Asked, keep: str, note: Callable[[str], None]) -> Place:
    device, executor = CPU, asked.executor
    options = replace(asked.jobs, share_folder=executor == "slurm")
    if executor == "ray" and (slurms := [name for name in _OF_SLURM if getattr(options, name) is not None]):
        raise UsageError(f"--{_OF_SLURM[slurms[0]]}: --executor ray has none; its cluster has its own nodes and image")
    if asked.tier == "gpu" or (asked.tier == "auto" and options.gpus):
        device = installed.on_the_nodes(options.gpus or 0, in_a_container=options.image is not None)
    folder = _resumed(keep) if asked.resume else jobs.empty(keep)
    python = "python3" if options.image or executor == "ray" else installed.python
    cluster: SlurmCluster | RayCluster
    try:
        if executor == "slurm":
            from mfsdp_lint.dryrun.slurm import SlurmCluster

            cluster = SlurmCluster(folder, options, python, asked.timeout, device, installed, note)
        else:
            from mfsdp_lint.dryrun.ray import RayCluster

            cluster = RayCluster(folder, options, asked.timeout, device, installed, note)
    except ImportError as error:
        needs = f"  pip install 'mfsdp-lint[{executor}]'"
        raise UsageError(f"--executor {executor}: {error}; install it with", needs) from None
    written: list[LaunchJob] = []

    def only_written(questions: Sequence[RunRequest], tell: Tell) -> Answers:
        written.extend(jobs.write(folder, questions, options, asked.timeout, device, installed))
        return {question.name: jobs.nothing("it was not submitted") for question in questions}, ()

    by: By = only_written if asked.print_job else cluster.answer
    if asked.resume:
        by = jobs.resuming(by, folder, device, installed)
    most = 1 if asked.ranks == 1 else None
    scripts = cluster.scripts if asked.print_job else None
    return Place(device, most, asked.memory or MEMORY, by, written, scripts, python, executor.capitalize())


def _resumed(keep: str | None) -> Path:
    """Return the folder of an earlier run. Raises UsageError."""
    if not keep:
        raise UsageError("--resume: name the folder with --keep that an earlier run has left its answers in")
    folder = Path(os.path.abspath(keep))
    if not folder.is_dir():
        raise UsageError(f"--resume: --keep {keep}: no such folder")
    return folder
