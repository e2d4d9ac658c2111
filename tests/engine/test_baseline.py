"""The baseline: what is accepted stays accepted wherever it goes, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"
RIGHT = WRONG.replace("torch_dist", "fsdp_dtensor")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("run.yaml", WRONG)


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def lint(*arguments: str) -> int:
    return main([*arguments, "--baseline", "base.json", "--target-bridge", "0.3.1", "--output-format=concise"])


def accept() -> None:
    assert lint("--update-baseline") == 0


def test_what_is_accepted_does_not_fail_and_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    accept()
    assert lint() == 0
    assert "0 findings; 1 suppressed" in capsys.readouterr().out


def test_it_survives_lines_that_move() -> None:
    accept()
    write("run.yaml", "# a comment\n\n" + WRONG)
    assert lint() == 0


def test_it_survives_a_file_that_is_renamed() -> None:
    accept()
    Path("run.yaml").rename("other.yaml")
    assert lint() == 0


def test_the_same_mistake_in_another_file_is_new() -> None:
    accept()
    write("copy.yaml", WRONG)
    assert lint() == 1


def test_another_mistake_in_the_same_file_is_new() -> None:
    accept()
    write("run.yaml", WRONG + "model:\n  gradient_accumulation_fusion: true\n  use_te_rng_tracker: 1\ndist:\n"
          "  use_megatron_fsdp: true\n  use_torch_fsdp2: true\n")  # fmt: skip
    assert lint() == 1


def test_it_does_not_depend_on_the_folder_one_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/run.yaml", WRONG)
    accept()
    monkeypatch.chdir("a")
    assert main(["run.yaml", "--baseline", "../base.json", "--target-bridge", "0.3.1"]) == 0


def test_an_entry_that_accepts_nothing_is_an_error_that_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    accept()
    write("run.yaml", RIGHT)
    capsys.readouterr()
    assert lint() == 1
    line, _ = capsys.readouterr().out.splitlines()
    assert line == (
        "base.json:4:1: error MFSDP906 the baseline accepts MFSDP101 in run.yaml, which is not found there any more"
    )
    accept()
    assert lint() == 0
    assert json.loads(Path("base.json").read_text(encoding="utf-8"))["findings"] == []


def test_entries_of_files_and_rules_that_were_not_checked_stay() -> None:
    write("other.yaml", WRONG)
    accept()
    assert lint("other.yaml") == 0
    assert lint("--select", "MFSDP2") == 0
    assert lint("other.yaml", "--update-baseline") == 0
    assert lint("--select", "MFSDP2", "--update-baseline") == 0
    assert lint() == 0


def test_what_is_accepted_is_not_fixed() -> None:
    accept()
    assert lint("--fix", "--unsafe-fixes") == 0
    assert Path("run.yaml").read_text(encoding="utf-8") == WRONG


def test_a_file_that_cannot_be_checked_is_never_accepted() -> None:
    write("bad.yaml", "ddp: [\n")
    assert lint("--update-baseline") == 1
    assert lint() == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "base.json: no such file; --update-baseline makes it"),
        ("{", "base.json: not a baseline"),
        ('{"version": 1, "findings": [{"path": 1}]}', "base.json: not a baseline"),
        ('{"version": 9, "findings": []}', "base.json: of version 9, and 1 is known"),
    ],
)
def test_a_baseline_that_is_none_is_told(capsys: pytest.CaptureFixture[str], content: str | None, message: str) -> None:
    if content is not None:
        write("base.json", content)
    assert lint() == 2
    assert message in capsys.readouterr().err


def test_a_run_that_is_kept_knows_the_baseline(tmp_path: Path) -> None:
    keep = ("--cache-dir", str(tmp_path / "kept"))
    accept()
    assert lint(*keep) == 0
    assert lint(*keep) == 0
    document = json.loads(Path("base.json").read_text(encoding="utf-8"))
    Path("base.json").write_text(json.dumps({**document, "findings": []}), encoding="utf-8")
    assert lint(*keep) == 1
    accept()
    assert lint(*keep) == 0
