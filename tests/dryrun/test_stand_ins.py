"""Values for what nobody knows, where what is known asks for one."""

from __future__ import annotations

from mfsdp_lint.dryrun.subject import stand_ins
from tests.dryrun.samples import FSDP

EXPERTS = "model.num_moe_experts"


def test_experts_that_are_spread_are_as_many_as_can_be_spread_so() -> None:
    assert stand_ins({**FSDP, "model.expert_model_parallel_size": 8}, [EXPERTS]) == {EXPERTS: 16}


def test_nothing_is_stood_in_for_that_nothing_asks_for_or_that_is_known() -> None:
    assert stand_ins({**FSDP, "model.expert_model_parallel_size": 1}, [EXPERTS]) == {}
    assert stand_ins({**FSDP, "model.expert_model_parallel_size": 8}, []) == {}
    assert stand_ins({EXPERTS: 128, "model.expert_model_parallel_size": 8}, [EXPERTS]) == {}
