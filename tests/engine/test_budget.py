"""Proofs that nobody asked for take a fixed amount of work at most; the rest of the fixes are possible ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import run
from mfsdp_lint.process import OverBudget, budget, spend

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg
"""


@pytest.fixture
def no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipe.py").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "affordable", lambda _: 0)


def document(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    main(["--output-format", "json", *options, "recipe.py"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.usefixtures("no_work")
def test_a_fix_that_was_not_proved_in_time_is_a_possible_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys)
    (finding,) = (each for each in found["findings"] if each["code"] == "MFSDP101")
    assert (finding["fix"], finding["possible_fix"]) == (None, "safe")
    assert finding["no_fix"] == "possible fix, not proved here: --fix, or --show-fixes"
    assert (found["summary"]["fixable"], found["summary"]["fixable_at_most"]) == (1, True)
    main(["--output-format", "full", "recipe.py"])
    out = capsys.readouterr().out
    assert "help: possible safe fix, not proved here: --fix\n" in out
    assert "up to 1 fixable with --fix" in out


@pytest.mark.usefixtures("no_work")
def test_who_asks_for_fixes_gets_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    document(capsys)  # what is cached for a report is no answer to whoever asks for proofs
    (finding,) = (each for each in document(capsys, "--show-fixes")["findings"] if each["code"] == "MFSDP101")
    assert (finding["fix"]["safety"], finding["possible_fix"]) == ("safe", None)
    main(["--diff", "recipe.py"])
    assert '+    cfg.checkpoint.ckpt_format = "fsdp_dtensor"' in capsys.readouterr().out
    main(["--fix", "recipe.py"])
    assert 'ckpt_format = "fsdp_dtensor"' in Path("recipe.py").read_text()


def test_work_is_counted_within_the_innermost_budget_alone() -> None:
    spend(1_000)
    with budget(10):
        spend(10)
        with budget(None):
            spend(1_000)
        with budget(5), pytest.raises(OverBudget):
            spend(6)
        with pytest.raises(OverBudget):
            spend(1)
    spend(1_000)
