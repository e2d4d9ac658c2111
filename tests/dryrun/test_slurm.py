"""Jobs on a real Slurm, submitted by the real submitit. The Python of the jobs is a stand-in, which answers at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mfsdp_lint.dryrun.inventory import CPU
from mfsdp_lint.dryrun.jobs import JobOptions
from mfsdp_lint.dryrun.ranks import Batch
from mfsdp_lint.inputs.options import UsageError
from tests.dryrun import cluster, sending
from tests.dryrun.sending import AS_IT_IS, INSTALLED, told

pytest.importorskip("submitit", reason="submitit is not installed")
if missing := cluster.missing():
    pytest.skip(f"{', '.join(missing)}: not installed (Debian: slurm-wlm, munge)", allow_module_level=True)

from mfsdp_lint.dryrun import slurm

pytestmark = [pytest.mark.xdist_group("slurm"), pytest.mark.long]


@pytest.fixture(scope="module")
def queue() -> Iterator[None]:
    """A cluster, which Slurm's programs find."""
    with cluster.started(nodes=2) as configuration, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(configuration))
        yield


class Runs(sending.Runs):
    """Runs that are sent to Slurm."""

    def cluster(self, options: JobOptions = AS_IT_IS) -> slurm.SlurmCluster:
        return slurm.SlurmCluster(self.folder, options, str(self.python), 60, CPU, INSTALLED, self.notes.append)

    @property
    def submitted(self) -> int:
        return len(list(self.folder.glob("slurm/*_submitted.pkl")))


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
    update = ("scontrol", "update", "nodename=node[0-1]")
    runs.when_running(lambda: cluster.said(*update, "state=down", "reason=test"))
    (why,) = runs.send(True)
    cluster.said(*update, "state=resume")
    assert why == f"job {job_of(runs, 0)} ended: its node failed"


def test_the_ranks_of_a_job_are_spread_over_nodes(runs: Runs) -> None:
    assert runs.send(False, options=JobOptions(nodes=2)) == ["done"]
    assert [len(list(runs.folder.glob(f"slurm/*_{task}_log.out"))) for task in range(3)] == [1, 1, 0]


def test_a_full_queue_is_told_and_one_word_stops_all(runs: Runs) -> None:
    said: list[str] = []

    def interrupt_when_others_wait(text: str) -> None:
        said.append(text)
        if "2 running, others wait" in text:  # before, jobs of an earlier test may be completing on the nodes
            interrupt()

    runs.meanwhile = interrupt_when_others_wait
    with pytest.raises(KeyboardInterrupt):
        runs.send(True, True, True, ranks=cluster.CPUS)
    assert said[-1] == "0 of 3 jobs have ended, 2 running, others wait (Resources)"
    assert runs.notes[-1].startswith("cancelled what had not ended: 3 of the jobs")


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
        patch.setattr(slurm.SlurmCluster, "_cancel", lambda self: None)
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
