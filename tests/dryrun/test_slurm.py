"""Jobs on a real Slurm, submitted by the real submitit. The Python of the jobs is a stand-in, which answers at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mfsdp_lint.dryrun.inventory import CPU, Installed
from mfsdp_lint.dryrun.jobs import JobOptions, resuming
from mfsdp_lint.dryrun.ranks import Batch, Key
from mfsdp_lint.inputs.options import UsageError
from tests.dryrun import cluster
from tests.dryrun.samples import FSDP

pytest.importorskip("submitit", reason="submitit is not installed")
if missing := cluster.missing():
    pytest.skip(f"{', '.join(missing)}: not installed (Debian: slurm-wlm, munge)", allow_module_level=True)

from mfsdp_lint.dryrun import slurm

pytestmark = [pytest.mark.xdist_group("slurm"), pytest.mark.long]

AS_IT_IS = JobOptions()

INSTALLED = Installed("python", "3.11", {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1"})

PYTHON = """\
#!{python}
import json, os, sys, time
if "-c" in sys.argv:  # it starts the job
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
folder = sys.argv[-1]
with open(f"{{folder}}/job.json") as stream:
    job = json.load(stream)
for question in job["questions"]:
    if question["settings"].get("sleeps") and not os.path.exists({awake!r}):
        time.sleep(600)
    for rank in range(job["ranks"]):
        with open(f"{{folder}}/answers/start.{{rank}}.json", "w") as stream:
            json.dump({{"error": None, "stood_in": ["triton"]}}, stream)
        with open(f"{{folder}}/answers/{{question['id']}}.{{rank}}.json", "w") as stream:
            json.dump({{"stage": "done", "error": None, "losses": [4.8]}}, stream)
"""


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cluster, which Slurm's programs find."""
    with cluster.one_node(tmp_path_factory.mktemp("slurm")) as configuration, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(configuration))
        yield


class Runs:
    """Runs that are sent to the cluster from one folder, and what is said meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "runs"
        self.folder.mkdir()
        self.awake = folder / "awake"
        self.python = folder / "python"
        self.python.write_text(PYTHON.format(python=sys.executable, awake=str(self.awake)))
        self.python.chmod(0o755)
        self.notes: list[str] = []
        self.meanwhile: Callable[[str], None] = lambda text: None

    def cluster(self, options: JobOptions = AS_IT_IS) -> slurm.Cluster:
        return slurm.Cluster(self.folder, options, str(self.python), 60, CPU, INSTALLED, self.notes.append)

    def send(self, *sleeping: bool, ranks: int = 2, options: JobOptions = AS_IT_IS) -> list[str]:
        """Have a run of each recipe made; returns what came of each."""
        batch = Batch(resuming(self.cluster(options).answer, self.folder, CPU, INSTALLED))
        keys = [self.want(batch, number, sleeps, ranks) for number, sleeps in enumerate(sleeping)]
        batch.run(self.meanwhile)
        return told(batch, keys)

    def want(self, batch: Batch, number: int, sleeps: bool, ranks: int) -> Key:
        batch.recipe = f"recipe {number}"
        return batch.want({**FSDP, "ddp.bucket_size": number, "sleeps": sleeps}, ranks)

    def when_running(self, what: Callable[[], object], running: str = ", 1 running") -> None:
        """Do something once, when a job runs."""
        done: list[str] = []

        def meanwhile(text: str) -> None:
            if running in text and not done:
                done.append(text)
                what()

        self.meanwhile = meanwhile

    @property
    def submitted(self) -> int:
        return len(list(self.folder.glob("slurm/*_submitted.pkl")))


def told(batch: Batch, keys: Sequence[Key]) -> list[str]:
    outcomes = [batch.outcome(key) for key in keys]
    return [each.failure.text if each.failure else each.stage for each in outcomes]


@pytest.fixture
def runs(queue: None, tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def job_of(runs: Runs, recipe: int) -> str:
    """The number of the job of a recipe."""
    return (runs.folder / f"job-{recipe + 1}" / "slurm-job").read_text()


def test_each_recipe_is_a_job_of_an_array_and_tells_its_end(runs: Runs) -> None:
    assert runs.send(False, False, False) == ["done", "done", "done"]
    number = job_of(runs, 0).partition("_")[0]
    assert [job_of(runs, recipe) for recipe in range(3)] == [f"{number}_{each}" for each in range(3)]
    assert runs.notes[0] == f"submitted to Slurm: 3 jobs, {number}_0 to {number}_2, in {runs.folder}"
    assert sorted(note.split(": ", 1)[1] for note in runs.notes[1:]) == [
        f"job {number}_{each} (recipe {each}) has answered" for each in range(3)
    ]


def test_recipes_may_share_jobs(runs: Runs) -> None:
    assert runs.send(False, False, False, options=JobOptions(max_jobs=2)) == ["done", "done", "done"]
    assert runs.submitted == 2
    assert any("(recipe 0 and 1 more)" in note for note in runs.notes)


def test_a_cancelled_job_is_told_and_made_again_when_resumed(runs: Runs) -> None:
    runs.when_running(lambda: cluster.said("scancel", job_of(runs, 1)))
    first, second = runs.send(False, True)
    job = job_of(runs, 1)
    assert (first, second) == ("done", f"job {job} ended: it was cancelled")
    assert any(note.endswith(f": job {job} (recipe 1) ended: it was cancelled") for note in runs.notes)
    runs.awake.touch()
    assert runs.send(False, True) == ["done", "done"]
    assert runs.submitted == 3


def test_a_time_limit_is_told(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "_BEFORE_THE_END", 58)  # the shortest limit is a minute
    (why,) = runs.send(True, options=JobOptions(minutes=1))
    assert why == f"job {job_of(runs, 0)} ended: it reached its time limit"


def test_a_node_that_goes_down_is_told(runs: Runs) -> None:
    node = cluster.said("sinfo", "--noheader", "--format=%n").strip()
    runs.when_running(lambda: cluster.said("scontrol", "update", f"nodename={node}", "state=down", "reason=test"))
    (why,) = runs.send(True)
    cluster.said("scontrol", "update", f"nodename={node}", "state=resume")
    assert why == f"job {job_of(runs, 0)} ended: its node failed"


def interrupt() -> None:
    raise KeyboardInterrupt


def test_an_interrupt_cancels_what_was_submitted(runs: Runs) -> None:
    runs.when_running(interrupt, running=", 2 running")
    with pytest.raises(KeyboardInterrupt):
        runs.send(True, True)
    assert runs.notes[-1].startswith("cancelled what had not ended: 2 of the jobs; --resume goes on in ")
    assert cluster.said("squeue", "--noheader", "--states=PENDING,RUNNING") == ""


def test_jobs_that_a_killed_run_has_left_are_waited_for(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(slurm.Cluster, "_cancel", lambda self: None)
        runs.when_running(interrupt)
        with pytest.raises(KeyboardInterrupt):
            runs.send(True)
    left = job_of(runs, 0)
    runs.notes.clear()
    runs.when_running(lambda: cluster.said("scancel", left))
    assert runs.send(True) == [f"job {left} ended: it was cancelled"]
    assert runs.submitted == 1


def test_what_slurm_refuses_is_told(runs: Runs) -> None:
    with pytest.raises(UsageError, match=r"--executor slurm: the job was refused: .*nvalid partition"):
        runs.send(False, options=JobOptions(partition="none"))


def test_jobs_that_slurm_takes_go_on_where_it_refuses_others(runs: Runs) -> None:
    batch = Batch(runs.cluster().answer)
    keys = [runs.want(batch, 0, False, 2), runs.want(batch, 1, False, 8 * cluster.CPUS)]
    batch.run(runs.meanwhile)
    taken, refused = told(batch, keys)
    assert taken == "done"
    assert refused.startswith("the job was refused: ")
    assert f"the job (recipe 1) {refused.removeprefix('the job ')}" in runs.notes


def test_two_runs_do_not_share_a_folder(runs: Runs) -> None:
    runs.when_running(lambda: runs.send(False))
    with pytest.raises(UsageError, match="another dry run is at work in it"):
        runs.send(True)


def test_a_job_runs_its_lines_first(runs: Runs) -> None:
    assert runs.send(True, options=JobOptions(setup=(f"touch {runs.awake}",))) == ["done"]
