"""The command lines that start ranks."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.dryrun.inventory import A_CLUSTER, CPU
from mfsdp_lint.dryrun.ranks import LaunchJob

GPUS = LaunchJob(Path("/jobs/job-1"), 3, 2, A_CLUSTER, 720.0)
WITHOUT = LaunchJob(Path("/jobs/job-2"), 1, 4, CPU, 241.0)

START = "/jobs/job-1/worker/start.py elsewhere /jobs/job-1"


def test_slurm_starts_a_task_for_each_rank_on_one_node_and_ends_them() -> None:
    assert " ".join(GPUS.lines["srun"]) == (
        f"srun --nodes=1 --ntasks=2 --gpus-per-node=2 --time=12 --kill-on-bad-exit=1 python3 {START}"
    )


def test_torchs_launcher_runs_the_same() -> None:
    assert " ".join(GPUS.lines["torchrun"]) == f"torchrun --standalone --max-restarts 0 --nproc-per-node 2 {START}"


def test_ranks_without_a_gpu_ask_for_none() -> None:
    assert WITHOUT.lines["srun"][:5] == ["srun", "--nodes=1", "--ntasks=4", "--time=5", "--kill-on-bad-exit=1"]
