"""Output of `--launcher print`: the commands that run the written jobs, and the command that reads the answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.dryrun.place import LaunchJob


def text(jobs: Sequence[LaunchJob], again: Sequence[str]) -> str:
    """Describe the jobs for people."""
    lines = ["Nothing was run but start-up validation. On one node that sees the folder, in a container for training:"]
    for job in jobs:
        runs = f"{job.runs} run{'' if job.runs == 1 else 's'}"
        lines += ["", f"{runs} on {job.ranks} {_ranks(job)}, {job.seconds / 60:.0f} minutes at most"]
        lines += [f"  {name:<10}{shlex.join(line)}" for name, line in job.lines.items()]
    lines += ["", "Either line does. What came of it is told by", f"  {shlex.join(again)}"]
    return "\n".join(lines) + "\n"


def _ranks(job: LaunchJob) -> str:
    many = "" if job.ranks == 1 else "s"
    if not job.device.is_gpu:
        return f"rank{many} without a GPU"
    return f"GPU{many} of compute capability {'.'.join(map(str, job.device.capability))} or above"


def document(jobs: Sequence[LaunchJob], again: Sequence[str]) -> dict[str, Any]:
    """Describe the jobs for programs."""
    return {
        "version": 1,
        "jobs": [
            {
                "directory": str(job.directory),
                "runs": job.runs,
                "ranks": job.ranks,
                "device": job.device.kind,
                "seconds": job.seconds,
                "lines": job.lines,
            }
            for job in jobs
        ],
        "answers": list(again),
    }
