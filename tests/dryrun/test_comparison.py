"""What a run did, against plain DDP."""

from __future__ import annotations

import math

from mfsdp_lint.dryrun.comparison import TOLERANCE, symptoms
from mfsdp_lint.dryrun.outcome import Outcome
from tests.dryrun.samples import trained

PLAIN = trained(moments=200, sums=(680.0, 680.0))


def told(outcome: Outcome, sharded: bool = True) -> str:
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
