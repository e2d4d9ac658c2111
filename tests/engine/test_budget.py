"""Proofs that nobody asked for take a fixed amount of work at most; the rest of the fixes are possible ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import repair, run
from mfsdp_lint.fixes.judged import Judged
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


def test_a_proof_with_more_users_than_can_be_read_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "recipe.py").write_text(RECIPE)
    for number in range(3):
        (tmp_path / f"user{number}.py").write_text("from recipe import recipe\ncfg = recipe()\n")
    monkeypatch.chdir(tmp_path)
    read = Counter[int]()
    evaluate = repair._Project.evaluate

    def counted(project: repair._Project, texts: Mapping[str, str]) -> Judged:
        read[len(texts)] += 1
        return evaluate(project, texts)

    monkeypatch.setattr(repair._Project, "evaluate", counted)
    monkeypatch.setattr(run, "affordable", lambda _: 2 * repair.UNITS_OF_A_USER)
    (finding,) = (
        each for each in document(capsys, "--no-dependents", "--no-cache")["findings"] if each["code"] == "MFSDP101"
    )
    assert (finding["fix"], finding["possible_fix"], read.total()) == (None, "safe", 0)
    monkeypatch.setattr(run, "affordable", lambda _: 30 * repair.UNITS_OF_A_USER)
    (finding,) = (
        each for each in document(capsys, "--no-dependents", "--no-cache")["findings"] if each["code"] == "MFSDP101"
    )
    assert (finding["fix"]["safety"], finding["possible_fix"], read.total() > 0) == ("safe", None, True)


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
