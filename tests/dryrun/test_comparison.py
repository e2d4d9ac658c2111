"""What a run did, against plain DDP."""

from __future__ import annotations

import math

from mfsdp_lint.dryrun.evidence import TOLERANCE, after_a_load, symptoms
from mfsdp_lint.dryrun.outcome import DONE, Measured, RunOutcome
from tests.dryrun.samples import trained

PLAIN = trained(moments=200, sums=(680.0, 680.0))


def told(outcome: RunOutcome, sharded: bool = True) -> str:
    return "; ".join(symptoms(outcome, PLAIN, tolerance=TOLERANCE, sharded=sharded))


def test_a_run_that_does_as_plain_ddp_has_no_symptom() -> None:
    assert told(trained()) == ""


def test_other_losses() -> None:
    assert told(trained(losses=(4.88, 4.86, 4.9))) == "the losses are 4.88, 4.86, 4.9, with plain DDP 4.88, 4.85, 4.9"


def test_other_gradients() -> None:
    assert told(trained(norms=(2.5, 1.4, 1.2))).startswith("the norm of the gradients is 2.5, 1.4, 1.2, with plain DDP")


def test_a_loss_that_is_no_number() -> None:
    assert told(trained(losses=(4.88, math.nan, math.nan))) == "the loss is nan"


def test_nothing_is_sharded_where_every_rank_keeps_it_all() -> None:
    assert told(trained(moments=200, sums=(680.0, 680.0))).startswith("nothing is sharded: a rank holds 250 bytes")
    assert told(trained(moments=200, sums=(680.0, 680.0)), sharded=False) == ""


def test_one_rank_has_nobody_to_share_with() -> None:
    assert told(trained(norms=(16.3, 9.7, 8.7), moments=200, sums=(680.0,))) == ""
    assert told(trained(losses=(4.88, math.nan, math.nan), sums=(680.0,))) == "the loss is nan"


def test_replicas_that_drift_apart() -> None:
    assert told(trained(moments=200, sums=(684.0, 675.0))).startswith("the replicas drift apart")


def test_a_norm_that_was_not_taken_says_nothing() -> None:
    assert told(trained(norms=(0.0, 0.0, 0.0))) == ""


KEPT = {"weights": "w", "optimizer": "o"}
SAVER = trained(saved=KEPT)


def loaded(loss: float = 4.9, norm: float = 1.2, **kept: str) -> str:
    """What is told of a run that went on with the last step of the plain one."""
    ranks = tuple(Measured((loss,), (norm,), loaded=kept) for _ in range(2))
    plain = trained(norms=(1.8, 1.0, 1.2))
    return "; ".join(after_a_load(SAVER, RunOutcome(DONE, None, ranks), plain, tolerance=TOLERANCE))


def test_a_load_that_goes_on_as_plain_ddp_did_has_no_symptom() -> None:
    assert loaded(weights="w", optimizer="o") == ""


def test_a_load_that_leaves_old_weights_in_use_shows_in_its_first_step_though_all_digests_are_right() -> None:
    assert loaded(4.88, 1.8, weights="w", optimizer="o") == (
        "in the first step after a load the loss is 4.88, with plain DDP 4.9; "
        "in the first step after a load the norm of the gradients is 1.8, with plain DDP 1.2"
    )


def test_a_load_that_is_not_to_bring_the_optimizer_back_is_compared_by_its_weights() -> None:
    assert loaded(weights="w") == ""
    assert loaded(weights="x") == "what was loaded is not what was saved"
    assert loaded(weights="w", optimizer="x") == "what was loaded is not what was saved"
