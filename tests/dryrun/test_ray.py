"""Launches in a job of a real Ray cluster of two workers. The ranks have a stand-in for Python that answers at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mfsdp_lint.dryrun.inventory import CPU
from mfsdp_lint.dryrun.jobs import JobOptions
from mfsdp_lint.inputs.options import UsageError
from tests.dryrun import sending
from tests.dryrun.sending import AS_IT_IS, INSTALLED

pytest.importorskip("ray.job_submission", reason="ray is not installed (pip install 'mfsdp-lint[ray]')")

from ray.cluster_utils import Cluster
from ray.job_submission import JobSubmissionClient

from mfsdp_lint.dryrun import ray

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("default")]  # Ray's own

CPUS = 2
"""Those of a worker."""


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster, which Ray's clients find."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.delenv("RAY_ADDRESS", raising=False)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": True})
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=CPUS)
            patch.setenv("RAY_API_SERVER_ADDRESS", f"http://{cluster.head_node.webui_url}")
            yield cluster
        finally:
            cluster.shutdown()


class Runs(sending.Runs):
    """Runs that are sent to Ray."""

    seconds = 60

    def cluster(self, options: JobOptions = AS_IT_IS) -> ray.RayCluster:
        stand_in = JobOptions(
            setup=(f"PATH={self.python.parent}:$PATH",),
            max_jobs=options.max_jobs,
            nodes=options.nodes,
            share_folder=False,
        )
        return ray.RayCluster(self.folder, stand_in, self.seconds, CPU, INSTALLED, self.notes.append)

    @property
    def number(self) -> str:
        """The number of the last job."""
        return max(self.folder.glob("mfsdp-dry-run-*"), key=lambda path: path.stat().st_mtime).name


@pytest.fixture
def runs(workers: Cluster, tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_each_recipe_is_a_launch_of_a_job_and_tells_its_end(runs: Runs) -> None:
    assert runs.send(False, False, False) == ["done", "done", "done"]
    assert runs.notes[0] == f"submitted to Ray: job {runs.number} with 3 launches, in {runs.folder}"
    assert sorted(note.split(": ", 1)[1] for note in runs.notes[1:]) == [
        f"job-{each + 1} (recipe {each}) has answered" for each in range(3)
    ]
    assert runs.send(False, False, False) == ["done", "done", "done"]  # from the folder
    assert len(list(runs.folder.glob("mfsdp-dry-run-*"))) == 1


def test_the_ranks_of_a_launch_are_spread_over_nodes(runs: Runs) -> None:
    assert runs.send(False, options=JobOptions(nodes=2)) == ["done"]
    assert sorted(path.name for path in (runs.folder / "job-1").glob("launcher.*")) == [
        "launcher.0.log",
        "launcher.1.log",
    ]


def test_a_launch_that_does_not_end_has_a_limit_and_is_made_again_when_resumed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "_BEFORE_THE_END", 1)
    runs.seconds = 1
    assert runs.send(True) == ["job-1 ended: it reached its time limit"]
    runs.awake.touch()
    assert runs.send(True) == ["done"]


def test_a_stopped_job_is_told(runs: Runs) -> None:
    runs.when_running(lambda: JobSubmissionClient().stop_job(runs.number))
    assert runs.send(True) == [f"job-1 ended without an answer: job {runs.number} was stopped"]


def test_a_node_that_dies_is_told(runs: Runs, workers: Cluster) -> None:
    def kill_workers() -> None:
        for node in list(workers.worker_nodes):
            workers.remove_node(node, allow_graceful=False)

    runs.when_running(kill_workers)
    (why,) = runs.send(True)
    for _ in range(2):
        workers.add_node(num_cpus=CPUS)
    assert why == "job-1 ended: its node failed"


def test_a_full_cluster_is_told_and_an_interrupt_stops_the_job(runs: Runs) -> None:
    said: list[str] = []

    def interrupt_when_full(text: str) -> None:
        said.append(text)
        if " 2 running" in text:
            interrupt()

    runs.meanwhile = interrupt_when_full
    with pytest.raises(KeyboardInterrupt):
        runs.send(True, True, True)
    assert said[-1] == "0 of 3 launches have ended, 2 running, others wait for room on the cluster"
    assert runs.notes[-1] == f"stopped job {runs.number}; --resume goes on in {runs.folder}"
    runs.meanwhile = lambda text: None
    runs.awake.touch()
    assert runs.send(True, True, True) == ["done", "done", "done"]


def test_a_job_that_a_killed_run_has_left_is_waited_for(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ray.RayCluster, "_stop", lambda self, client: None)
        runs.when_running(interrupt)
        with pytest.raises(KeyboardInterrupt):
            runs.send(True)
    runs.when_running(runs.awake.touch)
    JobSubmissionClient().stop_job(runs.number)
    assert runs.send(True) == [f"job-1 ended without an answer: job {runs.number} was stopped"]
    assert len(list(runs.folder.glob("mfsdp-dry-run-*"))) == 1


def test_a_cluster_that_is_not_there_is_told(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="RAY_ADDRESS names the cluster") as error:
        runs.send(False)
    assert "127.0.0.1:9" in str(error.value)
