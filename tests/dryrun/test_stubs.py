"""What stands in for packages that only a machine with GPUs has."""

from __future__ import annotations

import pytest

from mfsdp_lint.dryrun.worker import stand_ins


def kernel() -> None: ...


def test_a_decorator_leaves_what_it_decorates_as_it_is() -> None:
    triton = stand_ins._module("triton")
    assert triton.autotune(configs=[], key=["n"])(kernel) is kernel


def test_nothing_else_can_be_done_with_it() -> None:
    triton = stand_ins._module("triton")
    with pytest.raises(AttributeError, match=r"triton\.jit is only stood in for"):
        triton.jit(kernel)(1, 2)
