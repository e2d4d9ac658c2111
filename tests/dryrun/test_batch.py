"""Many runs in few launches, and in jobs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mfsdp_lint.dryrun.jobs import divided
from mfsdp_lint.dryrun.outcome import DONE, RunOutcome
from mfsdp_lint.dryrun.ranks import Answers, Batch, RunRequest, Tell, in_chunks
from tests.dryrun.samples import FSDP


def wanted(ranks: Sequence[int]) -> list[RunRequest]:
    """The runs of recipes with so many ranks each: a save, a run with plain DDP, which they share, and a load."""
    asked: list[RunRequest] = []

    def by(questions: Sequence[RunRequest], tell: Tell) -> Answers:
        asked.extend(questions)
        return {question.name: RunOutcome(DONE) for question in questions}, ()

    batch = Batch(by)
    for number, count in enumerate(ranks):
        batch.recipe = f"recipe {number}"
        saved = batch.want({**FSDP, "ddp.bucket_size": number}, count, save=True)
        batch.want({**FSDP, "ddp.use_megatron_fsdp": False}, count)
        batch.want({**FSDP, "ddp.bucket_size": number}, count, load=saved)
    batch.run(lambda _: None)
    return asked


@pytest.mark.parametrize("recipes", [1, 49, 50, 51, 101])
def test_a_load_is_in_the_launch_of_its_save(recipes: int) -> None:
    """A launch has a limit, and each recipe asks for a save, a run with plain DDP, and a load."""
    launches = in_chunks(wanted([2] * recipes))
    assert sum(map(len, launches)) == 2 * recipes + 1
    for launch in launches:
        assert len(launch) <= 100
        assert len({run.ranks for run in launch}) == 1
        assert {run.load for run in launch if run.load} <= {run.save for run in launch}


def recipes_of(jobs: Sequence[Sequence[RunRequest]]) -> list[list[str]]:
    return [list(dict.fromkeys(run.recipe for run in job)) for job in jobs]


def test_a_job_has_one_recipe_unless_jobs_are_limited() -> None:
    runs = wanted([2, 2, 4, 2])
    assert recipes_of(divided(runs, None)) == [["recipe 0"], ["recipe 1"], ["recipe 3"], ["recipe 2"]]
    assert recipes_of(divided(runs, 3)) == [["recipe 0", "recipe 3"], ["recipe 1"], ["recipe 2"]]
    assert recipes_of(divided(runs, 1)) == [["recipe 0", "recipe 1", "recipe 3"], ["recipe 2"]]
    for most in (None, 3, 1):
        jobs = divided(runs, most)
        assert sorted(run.name for job in jobs for run in job) == sorted(run.name for run in runs)
        for job in jobs:
            assert {run.load for run in job if run.load} == {run.save for run in job if run.save}


def test_a_run_is_named_by_what_decides_its_outcome() -> None:
    first, second = wanted([2]), wanted([2, 4])
    assert {run.name for run in first} < {run.name for run in second}
    assert len({run.name for run in second}) == 6
