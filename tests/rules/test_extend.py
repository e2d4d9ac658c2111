"""A team's own rules, in its own repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

RULE = """
code: TEAM001
name: no-zarr
summary: Zarr checkpoints
why: Our readers are gone.
applies: old_format and checkpoint.save is not None
message: nobody reads {checkpoint.ckpt_format} any more
consequence: the checkpoint is lost
cases: [{severity: warning, stage: save}]
blame: {value: [checkpoint.ckpt_format]}
"""

TERMS = """
old_format:
  meaning: A format of old.
  condition: checkpoint.ckpt_format == "zarr"
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint" / "no-zarr.yaml").write_text(RULE)
    (tmp_path / "lint" / "terms.yaml").write_text(TERMS)
    (tmp_path / "run.yaml").write_text("checkpoint:\n  ckpt_format: zarr\n  save: /results\n")
    (tmp_path / "pyproject.toml").write_text('[tool.mfsdp-lint]\nextend-rules = ["lint/"]\n')
    return tmp_path


def lint(*arguments: str) -> int:
    return main(["run.yaml", "--output-format", "concise", "--target-bridge", "0.3.1", *arguments])


def test_they_are_judged_by_like_the_tools_own(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("--select", "TEAM") == 1
    assert 'run.yaml:2:16: warning TEAM001 nobody reads "zarr" any more' in capsys.readouterr().out


def test_they_are_listed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert "no-zarr" in capsys.readouterr().out.splitlines()[-1]


def test_they_are_listed_alone_where_only_they_are_asked_for(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "--select", "TEAM", "--output-format", "json"]) == 0
    assert [rule["code"] for rule in json.loads(capsys.readouterr().out)] == ["TEAM001"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            RULE.replace("severity: warning", "severity: fatal"),
            "lint/no-zarr.yaml: cases[0]: severity: 'fatal' is none",
        ),
        (RULE.replace("TEAM001", "MFSDP101"), "MFSDP101 is already the rule of"),
        (RULE.replace("old_format", "new_format"), "lint/no-zarr.yaml: applies: new_format is neither a term nor"),
        ("code: [", "lint/no-zarr.yaml: "),
    ],
)
def test_a_mistake_in_one_is_told_with_file_and_field(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    (repository / "lint" / "no-zarr.yaml").write_text(text)
    assert lint() == 2
    assert problem in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "pyproject.toml").write_text('[tool.mfsdp-lint]\nextend-rules = ["rules/"]\n')
    assert lint() == 2
    assert "extend-rules: rules: no such folder" in capsys.readouterr().err


def test_a_term_of_the_tool_keeps_its_meaning(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "lint" / "terms.yaml").write_text(TERMS.replace("old_format", "megatron_fsdp"))
    assert lint() == 2
    assert "lint/terms.yaml: megatron_fsdp: the tool has a term of that name" in capsys.readouterr().err


RECOMMENDATION = RULE.replace("summary", "preset: performance\nsummary")


def test_a_recommendation_is_off_until_it_is_asked_for(repository: Path) -> None:
    (repository / "lint" / "no-zarr.yaml").write_text(RECOMMENDATION)
    assert lint("--select", "TEAM") == 0
    assert lint("--select", "TEAM001") == 1
    assert lint("--select", "TEAM", "--preset", "performance") == 1


def test_a_new_rule_is_off_until_it_or_the_preview_is_asked_for(repository: Path) -> None:
    (repository / "lint" / "no-zarr.yaml").write_text(RULE.replace("summary", "preview: true\nsummary"))
    assert lint("--select", "TEAM") == 0
    assert lint("--select", "TEAM001") == 1
    assert lint("--select", "TEAM", "--preview") == 1
    assert lint("--select", "TEAM", "--preview", "--no-preview") == 0
    with (repository / "pyproject.toml").open("a") as file:
        file.write("preview = true\n")
    assert lint("--select", "TEAM") == 1


def test_a_preset_that_does_not_exist_is_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "pyproject.toml").write_text('[tool.mfsdp-lint]\npreset = "speed"\n')
    assert lint() == 2
    assert 'preset: expected one of default, strict, performance, got "speed"' in capsys.readouterr().err
