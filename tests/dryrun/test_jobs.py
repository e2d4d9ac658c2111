"""Jobs that are written here, run elsewhere, and read here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.dryrun.inventory import A_CLUSTER, Device, Installed
from mfsdp_lint.dryrun.ranks import Batch, By, Key, LaunchJob, answered, empty, writing
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.reports import dry_run as jobs_report
from tests.dryrun.samples import FSDP

VERSIONS = {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1"}
HERE = Installed("python", "3.11", VERSIONS)


def runs(by: By, device: Device = A_CLUSTER, strategy: str = "optim") -> tuple[Batch, list[Key]]:
    """A save and its load on two ranks, and a run on four."""
    batch = Batch(by, device)
    settings = {**FSDP, "ddp.data_parallel_sharding_strategy": strategy}
    saved = batch.want(settings, 2, save=True)
    keys = [saved, batch.want(settings, 2, load=saved), batch.want(settings, 4)]
    batch.run(lambda name: None)
    return batch, keys


@pytest.fixture
def written(tmp_path: Path) -> list[LaunchJob]:
    jobs: list[LaunchJob] = []
    runs(writing(empty(str(tmp_path / "jobs")), 60, A_CLUSTER, jobs))
    return jobs


def answer(job: LaunchJob, name: str, versions: dict[str, str] = VERSIONS, **answers: Any) -> None:
    """What every rank says of a run."""
    folder = job.directory / "answers"
    (folder / "inventory.json").write_text(json.dumps({"versions": versions}))
    for rank in range(job.ranks):
        (folder / f"start.{rank}.json").write_text(json.dumps({"error": None, "stood_in": ["wandb"]}))
        (folder / f"{name}.{rank}.json").write_text(json.dumps({"stage": "done", "error": None, **answers}))


def messages(batch: Batch, keys: Sequence[Key]) -> list[str]:
    outcomes = [batch.outcome(key) for key in keys]
    return [each.failure.text if each.failure else each.stage for each in outcomes]


def test_a_job_has_all_that_a_launch_takes(written: list[LaunchJob]) -> None:
    two, four = written
    assert (two.runs, two.ranks, four.runs, four.ranks) == (2, 2, 1, 4)
    assert {path.name for path in two.directory.iterdir()} == {"answers", "job.json", "worker"}
    assert (two.directory / "worker" / "start.py").exists()
    document = json.loads((two.directory / "job.json").read_text())
    assert (document["device"], document["forks"], document["limit"]) == ("cuda", False, 240)
    assert [question.get("save") for question in document["questions"]] == ["checkpoints/run-1", None]
    assert document["environment"]["HF_HUB_OFFLINE"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in document["environment"]


def test_what_came_of_it_is_read_from_the_same_folder(written: list[LaunchJob]) -> None:
    two, _ = written
    answer(two, "run-1", losses=[4.8], peak=1000)
    by, device = answered(str(two.directory.parent), HERE)
    batch, keys = runs(by, device)
    assert device == A_CLUSTER
    assert batch.outcome(keys[0]).ranks[1].peak == 1000
    assert batch.stood_in == ("wandb",)
    assert messages(batch, keys)[1:] == [f"{job.directory} has no answer to it" for job in written]


def test_answers_of_other_versions_say_nothing(written: list[LaunchJob]) -> None:
    answer(written[0], "run-1", {**VERSIONS, "megatron-core": "0.17.0"})
    by, device = answered(str(written[0].directory.parent), HERE)
    batch, keys = runs(by, device)
    assert messages(batch, keys)[0] == "it was run with megatron-core 0.17.0, and validated here with 0.16.1"
    assert not batch.outcome(keys[0]).conclusive


def test_answers_to_other_settings_say_nothing(written: list[LaunchJob]) -> None:
    answer(written[0], "run-1")
    by, device = answered(str(written[0].directory.parent), HERE)
    batch, keys = runs(by, device, strategy="no_shard")
    assert messages(batch, keys)[0].endswith("it was written for other settings, or other options")


def test_a_folder_that_has_something_in_it_is_left_alone(written: list[LaunchJob]) -> None:
    with pytest.raises(UsageError, match="there is something in it"):
        empty(str(written[0].directory))


def test_a_folder_without_jobs_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no jobs in it"):
        answered(str(tmp_path), HERE)


def test_what_is_printed() -> None:
    job = LaunchJob(Path("/jobs/job-1"), 2, 2, A_CLUSTER, 240.0)
    start = "/jobs/job-1/worker/start.py elsewhere /jobs/job-1"
    srun = "srun --nodes=1 --ntasks=2 --gpus-per-node=2 --time=4 --kill-on-bad-exit=1 python3"
    assert jobs_report.jobs_text([job], ["mfsdp-lint", "dry-run", "a b.py", "--answers", "/jobs"]) == (
        "Nothing was run but start-up validation. On one node that sees the folder, in a container for training:\n"
        "\n"
        "2 runs on 2 GPUs of compute capability 9.0 or above, 4 minutes at most\n"
        f"  srun      {srun} {start}\n"
        f"  torchrun  torchrun --standalone --max-restarts 0 --nproc-per-node 2 {start}\n"
        "\n"
        "Either line does. What came of it is told by\n"
        "  mfsdp-lint dry-run 'a b.py' --answers /jobs\n"
    )
