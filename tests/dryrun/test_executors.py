"""Where a dry run is run, and the scripts for a cluster."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from mfsdp_lint.commands.dry_run import minutes
from mfsdp_lint.dryrun.executors import Asked, place
from mfsdp_lint.dryrun.inventory import CPU, Installed
from mfsdp_lint.dryrun.jobs import JobOptions
from mfsdp_lint.dryrun.ranks import Batch
from mfsdp_lint.inputs.options import Executor, UsageError
from tests.dryrun.samples import FSDP

HERE = Installed("/opt/python", "3.11", {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1"})


def scripts(folder: Path, tier: str, options: JobOptions, recipes: int = 1, executor: Executor = "slurm") -> list[str]:
    """The scripts for recipes; nothing is submitted, and no cluster is there."""
    if executor == "slurm":
        pytest.importorskip("submitit", reason="submitit is not installed")
    asked = Asked(executor, tier, 2, 60, keep=str(folder / "jobs"), print_job=True, jobs=options)  # type: ignore[arg-type]
    there = place(HERE, asked, pytest.fail)
    batch = Batch(there.by, there.device)
    for number in range(recipes):
        batch.recipe = f"recipe {number}"
        batch.want({**FSDP, "ddp.bucket_size": number}, 2)
    batch.run(lambda text: None)
    assert there.scripts is not None
    return there.scripts(there.jobs)


def test_a_script_asks_for_what_the_options_say(tmp_path: Path) -> None:
    options = JobOptions("gpu", "research", 30, setup=("module load cuda",))
    (script,) = scripts(tmp_path, "gpu", options, recipes=3)
    lines = script.split("\n")
    asked = {line.removeprefix("#SBATCH --") for line in lines if line.startswith("#SBATCH")}
    assert {"partition=gpu", "account=research", "time=30", "gpus-per-node=2", "cpus-per-task=2"} <= asked
    assert {"array=0-2%3", "nodes=1", "ntasks-per-node=1", "no-requeue"} <= asked
    assert lines.index("module load cuda") < len(lines) - 2
    assert " /opt/python -u -c " in script


def test_without_options_a_job_has_the_time_of_its_runs_and_no_gpu(tmp_path: Path) -> None:
    (script,) = scripts(tmp_path, "auto", JobOptions())
    assert "--time=3\n" in script  # a minute for a run, one for imports, one for the end
    assert "gpus" not in script
    assert "partition" not in script


def test_gpus_of_a_job_choose_the_tier_for_them(tmp_path: Path) -> None:
    (script,) = scripts(tmp_path, "auto", JobOptions(gpus=1))
    assert "#SBATCH --gpus-per-node=1\n" in script


def test_a_container_sees_the_folder_and_has_a_python_of_its_own(tmp_path: Path) -> None:
    (script,) = scripts(tmp_path, "gpu", JobOptions(image="nvcr.io/nvidia/nemo:25.11", mounts="/data:/data"))
    assert "--container-image=nvcr.io/nvidia/nemo:25.11" in script
    assert f"--container-mounts=/data:/data,{tmp_path}/jobs:{tmp_path}/jobs python3 -u -c " in script


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mfsdp_lint.dryrun.slurm", raising=False)
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UsageError, match=r"--executor slurm: .*submitit") as error:
        place(HERE, Asked("slurm", "cpu", 2, 60, keep=str(tmp_path / "jobs")), pytest.fail)
    assert error.value.more == ("  pip install 'mfsdp-lint[slurm]'",)


def test_ray_takes_no_option_of_slurm(tmp_path: Path) -> None:
    pytest.importorskip("ray.job_submission", reason="ray is not installed (pip install 'mfsdp-lint[ray]')")
    options = JobOptions(image="nvcr.io/nvidia/nemo:25.11")
    with pytest.raises(UsageError, match="--container-image: --executor ray has none"):
        place(HERE, Asked("ray", "gpu", 2, 60, keep=str(tmp_path / "jobs"), jobs=options), pytest.fail)


def test_what_ray_would_be_given(tmp_path: Path) -> None:
    pytest.importorskip("ray.job_submission", reason="ray is not installed (pip install 'mfsdp-lint[ray]')")
    (script,) = scripts(tmp_path, "gpu", JobOptions(gpus=1, minutes=5, setup=("module load cuda",)), 2, "ray")
    assert re.fullmatch(
        r"ray job submit --submission-id (\S+) --working-dir \S+/jobs/\1 --no-wait -- python3 on_ray.py launches.json",
        script,
    )
    (plan,) = (tmp_path / "jobs").glob("*/launches.json")
    launches, worker = json.loads(plan.read_text())
    assert [(each["name"], each["needs"], each["seconds"]) for each in launches] == [
        (f"job-{number}", {"CPU": 2, "GPU": 1}, 300) for number in (1, 2)
    ]
    assert launches[0]["script"].startswith("module load cuda\nexec python3 worker/start.py torch.distributed.run ")
    assert "worker/start.py" in worker


def test_this_machine_takes_what_its_python_has() -> None:
    here = place(HERE, Asked("local", "auto", 1, 60), pytest.fail)
    assert (here.device, here.most, here.scripts) == (CPU, 1, None)


@pytest.mark.parametrize(
    ("text", "number"),
    [("30", 30), ("90:30", 91), ("1:30:00", 90), ("1:30:01", 91), ("1-0", 1440), ("1-2:30", 1590), ("0-0:0:1", 1)],
)
def test_a_time_limit_is_read_as_slurm_reads_it(text: str, number: int) -> None:
    assert minutes(text) == number
