"""Front-ends by name: one that is not known is an error, and never a configuration that is clean."""

from __future__ import annotations

import pytest

import mfsdp_lint
from mfsdp_lint.core.front_ends import UnknownFrontEnd
from mfsdp_lint.megatron.front_ends import every_front_end, front_end

SHARDED_AND_DUMPED_BY_TORCH = {
    "ddp.use_megatron_fsdp": True,
    "dist.use_megatron_fsdp": True,
    "checkpoint.ckpt_format": "torch_dist",
    "checkpoint.save": "/checkpoints",
}


@pytest.mark.parametrize("name", every_front_end())
def test_a_front_end_is_found_by_its_name(name: str) -> None:
    assert front_end(name).name == str(front_end(name)) == name


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UnknownFrontEnd, match="'megatron_lm' is no front-end; known are bridge, megatron-lm, "):
        front_end("megatron_lm")


def test_nothing_is_judged_for_a_front_end_that_is_not_known() -> None:
    assert mfsdp_lint.judge(SHARDED_AND_DUMPED_BY_TORCH, front_end="megatron-lm").findings
    with pytest.raises(ValueError, match="known are bridge, megatron-lm, "):
        mfsdp_lint.judge(SHARDED_AND_DUMPED_BY_TORCH, front_end="megatron_lm")
