"""The library: what the command line finds, as values, and a guard for launchers."""

from __future__ import annotations

from pathlib import Path

import pytest

import mfsdp_lint

WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"
BROKEN = {
    "dist.use_megatron_fsdp": True,
    "ddp.use_megatron_fsdp": True,
    "checkpoint.ckpt_format": "torch_dist",
    "checkpoint.save": "/results",
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "dist.use_tp_pp_dp_mapping": True,
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.yaml").write_text(WRONG, encoding="utf-8")


def test_everything_public_is_there() -> None:
    assert all(getattr(mfsdp_lint, name) for name in mfsdp_lint.__all__)


def test_files_are_checked_as_by_the_command_line() -> None:
    checked = mfsdp_lint.check(["run.yaml"], target_bridge="0.3.1")
    assert [(each.code, each.span.line) for each in checked.findings] == [("MFSDP101", 4)]
    assert (checked.suppressed, checked.problems, checked.summary.errors) == ((), (), 1)


def test_what_is_given_stands_over_the_configuration() -> None:
    Path("mfsdp-lint.toml").write_text('ignore = ["MFSDP1"]\nfix = true\n', encoding="utf-8")
    assert mfsdp_lint.check().findings == ()
    assert len(mfsdp_lint.check(ignore=()).findings) == 1
    assert len(mfsdp_lint.check(isolated=True).findings) == 1
    assert Path("run.yaml").read_text(encoding="utf-8") == WRONG


def test_a_path_that_is_not_there_is_a_problem_and_no_exception() -> None:
    assert mfsdp_lint.check(["gone.yaml"]).problems == ("gone.yaml: no such file or directory",)


@pytest.mark.parametrize("name", ["selct", "fix", "paths_"])
def test_an_option_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(mfsdp_lint.UsageError, match=f"{name}: no such option"):
        mfsdp_lint.check(**{name: ("MFSDP1",)})  # type: ignore[arg-type]  # that is the point


def test_the_guard_raises_one_error_with_all_problems() -> None:
    with pytest.raises(mfsdp_lint.Refused) as refused:
        mfsdp_lint.guard(BROKEN, target="0.4.2")
    codes = [each.code for each in refused.value.findings]
    assert len(codes) > 1
    assert "MFSDP101" in codes
    lines = str(refused.value).splitlines()
    assert lines[0] == f"mfsdp-lint: {len(codes)} problems"
    assert len(lines) == 1 + len(codes)


def test_the_guard_lets_pass_what_may_run() -> None:
    assert mfsdp_lint.guard({"checkpoint.save": "/results"}, target="0.4.2").findings == ()
