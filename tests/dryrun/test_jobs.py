"""Jobs that are written here, run elsewhere, and read here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.core import files
from mfsdp_lint.dryrun import jobs
from mfsdp_lint.dryrun.inventory import A_CLUSTER, CPU, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, LaunchJob
from mfsdp_lint.dryrun.outcome import DONE, RunOutcome
from mfsdp_lint.dryrun.ranks import Answers, Batch, Key, RunRequest, Tell
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.reports import dry_run as jobs_report
from tests.dryrun.samples import FSDP

VERSIONS = {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1"}
HERE = Installed("python", "3.11", VERSIONS)


class Written:
    """A save and its load on two ranks, and a run on four: written as jobs, and read again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[str] = []
        self.jobs: list[LaunchJob] = []

        def by(questions: Sequence[RunRequest], tell: Tell) -> Answers:
            self.jobs = jobs.write(folder, questions, JobOptions(), 60, A_CLUSTER, HERE)
            return {question.name: jobs.nothing("it is not run") for question in questions}, ()

        self.keys = self.wanted(Batch(by, A_CLUSTER))

    def wanted(self, batch: Batch, strategy: str = "optim") -> list[Key]:
        settings = {**FSDP, "ddp.data_parallel_sharding_strategy": strategy}
        batch.recipe = "recipe.py::one"
        saved = batch.want(settings, 2, save=True)
        keys = [saved, batch.want(settings, 2, load=saved), batch.want(settings, 4)]
        batch.run(lambda text: None)
        return keys

    def again(self, strategy: str = "optim", installed: Installed = HERE) -> list[str]:
        """Ask again; returns what came of each run: what it lacks is made at once."""

        def by(questions: Sequence[RunRequest], tell: Tell) -> Answers:
            self.made += [question.name for question in questions]
            return {question.name: RunOutcome("made again") for question in questions}, ()

        batch = Batch(jobs.resuming(by, self.folder, A_CLUSTER, installed), A_CLUSTER)
        return [batch.outcome(key).stage for key in self.wanted(batch, strategy)]

    def answer(self, job: LaunchJob, number: int, versions: dict[str, str] = VERSIONS, **answers: Any) -> None:
        """Write what every rank says of a run."""
        folder = job.directory / "answers"
        (folder / "inventory.json").write_text(json.dumps({"versions": versions}))
        for rank in range(job.ranks):
            (folder / f"start.{rank}.json").write_text(json.dumps({"error": None, "stood_in": ["wandb"]}))
            said = {"stage": DONE, "error": None, **answers}
            (folder / f"{self.keys[number]}.{rank}.json").write_text(json.dumps(said))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(jobs.empty(str(tmp_path / "jobs")))


def test_a_job_has_all_that_a_launch_takes(written: Written) -> None:
    two, four = written.jobs
    assert (len(two.questions), two.ranks, len(four.questions), four.ranks) == (2, 2, 1, 4)
    assert {path.name for path in two.directory.iterdir()} == {"answers", "job.json", "worker"}
    assert (two.directory / "worker" / "start.py").exists()
    document = json.loads((two.directory / "job.json").read_text())
    assert (document["device"], document["forks"], document["limit"]) == ("cuda", False, 240)
    assert [question.get("save") for question in document["questions"]] == [f"checkpoints/{written.keys[0]}", None]
    assert document["environment"]["HF_HUB_OFFLINE"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in document["environment"]


def test_an_answer_is_used_again_and_a_load_has_its_save_made_again(written: Written) -> None:
    two, four = written.jobs
    written.answer(two, 0)
    written.answer(four, 2)
    assert written.again() == ["made again", "made again", DONE]
    written.answer(two, 1)
    assert written.again() == [DONE, DONE, DONE]
    assert written.made == written.keys[:2]


def test_an_answer_that_decides_nothing_is_asked_for_again(written: Written) -> None:
    written.answer(written.jobs[1], 2, stage="wrap", error={"type": "Ended", "text": "killed", "where": []})
    assert written.again()[2] == "made again"


def test_answers_of_other_versions_or_to_other_settings_are_not_used(written: Written) -> None:
    for number, job in enumerate((written.jobs[0], written.jobs[0], written.jobs[1])):
        written.answer(job, number)
    assert written.again(strategy="no_shard") == ["made again"] * 3
    newer = Installed("python", "3.11", {**VERSIONS, "megatron-core": "0.17.0"})
    assert written.again(installed=newer) == ["made again"] * 3
    assert written.again() == [DONE] * 3


def test_answers_that_another_version_gave_on_the_node_say_nothing(written: Written) -> None:
    job = written.jobs[0]
    written.answer(job, 0, {**VERSIONS, "megatron-core": "0.17.0"})
    outcomes, _ = job.collect(HERE, "")
    failure = outcomes[written.keys[0]].failure
    assert failure is not None
    assert failure.text == "it was run with megatron-core 0.17.0, and validated here with 0.16.1"
    assert not outcomes[written.keys[0]].conclusive


def test_a_run_that_was_cut_off_has_the_reason_of_its_job(written: Written) -> None:
    job = written.jobs[0]
    written.answer(job, 0)
    written.answer(job, 1, stage="wrap", error={"type": "Ended", "text": "the process ended with -15", "where": []})
    outcomes, stood_in = job.collect(HERE, "job 7 ended: it was cancelled")
    assert [outcomes[key].told for key in written.keys[:2]] == [
        "it ran through",
        "job 7 ended: it was cancelled",
    ]
    assert stood_in == ("wandb",)


def test_a_folder_that_has_something_in_it_is_left_alone(written: Written) -> None:
    with pytest.raises(UsageError, match="there is something in it"):
        jobs.empty(str(written.folder))


def test_a_job_that_cannot_be_read_is_told(written: Written) -> None:
    (written.folder / "job-1" / "job.json").write_text("[]")
    with pytest.raises(UsageError, match=r"job-1.job\.json: "):
        written.again()


def test_the_ranks_of_a_job_are_spread_over_as_many_nodes_as_divide_them(tmp_path: Path) -> None:
    def nodes(ranks: int, share_folder: bool = True, save: str | None = None) -> int:
        run = RunRequest(f"run-{ranks}", {}, {}, ranks, save=save)
        options = JobOptions(nodes=2, share_folder=share_folder)
        (job,) = jobs.write(tmp_path, [run], options, 60, CPU, HERE)
        environment = json.loads((job.directory / "job.json").read_text())["environment"]
        assert ("GLOO_SOCKET_IFNAME" in environment) == (job.nodes == 1)  # one machine keeps to itself
        return job.nodes

    assert [nodes(ranks) for ranks in (2, 3, 4)] == [2, 1, 2]
    assert [nodes(2, share_folder, "saved") for share_folder in (True, False)] == [2, 1]


def test_a_node_begins_with_its_number_and_the_first_ones_address() -> None:
    job = LaunchJob(Path("/jobs/job-1"), (RunRequest("run-1", {}, {}, 4),), CPU, 240.0, nodes=2)
    said = job.shell("python3", "$NODE", "$HOST", "$PORT")
    assert said.startswith("exec env MFSDP_LINT_DRY_RUN_NODES=2 python3 ")
    assert "--nnodes 2 --node-rank $NODE --master-addr $HOST --master-port $PORT " in said
    assert "--nproc-per-node 2 " in said


def test_a_limit_of_memory_goes_with_the_command() -> None:
    run = RunRequest("run-1", {}, {})
    without, limited = (LaunchJob(Path("/jobs/job-1"), (run,), CPU, 240.0, memory) for memory in (0, 1 << 30))
    assert limited.command("python3") == ["env", "MFSDP_LINT_DRY_RUN_MEMORY=1073741824", *without.command("python3")]


def test_what_is_printed() -> None:
    run = RunRequest("run-1", {}, {}, recipe="a b.py::one")
    job = LaunchJob(Path("/jobs/job-1"), (run, run), A_CLUSTER, 240.0)
    again = ["mfsdp-lint", "dry-run", "a b.py", "--resume"]
    assert jobs_report.jobs_text([job], ["#!/bin/bash\n\nsrun it\n"], "Slurm", "python3", again) == (
        "Nothing was submitted, and nothing run but start-up validation.\n"
        "job-1: 2 runs on 2 GPUs of compute capability 9.0 or above, 4 minutes at most: a b.py::one\n"
        "\n"
        "Slurm would be given 1 script:\n"
        "\n"
        "  #!/bin/bash\n"
        "\n"
        "  srun it\n"
        "\n"
        "Without Slurm, on a machine that sees the folder:\n"
        "  python3 /jobs/job-1/worker/start.py torch.distributed.run --standalone --local-addr 127.0.0.1 "
        "--max-restarts 0 --nproc-per-node 2 "
        "--log-dir /jobs/job-1/ranks /jobs/job-1/worker/start.py elsewhere /jobs/job-1\n"
        "\n"
        "The answers are read, and missing ones submitted, by\n"
        "  mfsdp-lint dry-run 'a b.py' --resume\n"
    )


def test_a_folder_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, how: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(files, "written", refused)
    with pytest.raises(UsageError, match="it belongs to another user; name a folder of your own"), jobs.alone(tmp_path):
        pass
