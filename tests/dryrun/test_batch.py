"""Many runs in few launches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mfsdp_lint.dryrun.outcome import DONE, RunOutcome
from mfsdp_lint.dryrun.ranks import Answers, Batch, RunRequest, Tell
from tests.dryrun.samples import FSDP


@pytest.mark.parametrize("recipes", [1, 33, 34, 51, 101])
def test_a_load_is_in_the_launch_of_its_save(recipes: int) -> None:
    """A launch has a limit, and each recipe asks for a save, a run with plain DDP, and a load."""
    launches: list[list[RunRequest]] = []

    def by(questions: Sequence[RunRequest], ranks: int, tell: Tell) -> Answers:
        launches.append(list(questions))
        return {question.name: RunOutcome(DONE) for question in questions}, ()

    batch = Batch(by)
    for number in range(recipes):
        settings = {**FSDP, "ddp.bucket_size": number}
        saved = batch.want(settings, 2, save=True)
        batch.want({**settings, "ddp.use_megatron_fsdp": False}, 2)
        batch.want(settings, 2, load=saved)
    batch.run(lambda _: None)
    assert sum(map(len, launches)) == 3 * recipes
    for launch in launches:
        assert len(launch) <= 100
        assert {run.load for run in launch if run.load} <= {run.save for run in launch}
