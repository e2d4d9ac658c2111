"""What a worker is given of a variant."""

from __future__ import annotations

from typing import Any

import pytest

from mfsdp_lint.dryrun.subject import given
from mfsdp_lint.rules.judging import variant_of

TENSOR, PIPELINE = "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size"
EXPERT = "model.expert_model_parallel_size"
BATCH, MICRO = "train.global_batch_size", "train.micro_batch_size"


@pytest.mark.parametrize(
    ("settings", "ranks"),
    [
        ({"run.world_size": 64}, 64),
        ({}, 2),
        ({TENSOR: 4, PIPELINE: 2}, 16),
        ({EXPERT: 8}, 16),
        ({"ddp.num_distributed_optimizer_instances": 2}, 4),
        ({BATCH: 4, MICRO: 2}, 2),
        ({BATCH: 2, MICRO: 2}, 1),
        ({BATCH: 32, MICRO: 4, EXPERT: 8}, 8),
        ({BATCH: 32, MICRO: 4, EXPERT: 8, TENSOR: 2}, 16),
    ],
)
def test_there_are_two_replicas_if_the_batch_can_be_divided_so(settings: dict[str, Any], ranks: int) -> None:
    assert given(variant_of(settings)).world_size == ranks
