"""Rules about the text of a file: a team's own, in its own repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.reports.explain import render_rule
from mfsdp_lint.rules.form import RuleError, read_rule
from mfsdp_lint.rules.load import extended_rules
from mfsdp_lint.rules.model import Rule
from tools.rule_pages import pages

RULE = r"""
code: TEAM901
name: wide-colon
summary: A full-width colon
why: The key goes on behind it, and nobody reads it.
judges: text
files: [yaml]
finds: '^[#\s]{0,40}(?P<key>\w{1,20})(?P<at>：) '
applies: always
cases:
  - when: text.key == "ckpt_format"
    severity: error
    stage: save
    message: "{text.key} is followed by {text.found}"
    consequence: the format is another
    enforced_by: nobody
  - severity: warning
    stage: never
    message: no colon
    consequence: the key is another
    enforced_by: nobody
fix: {replace: ":", safe: text.key != "ckpt_format"}
"""

TEXT = """\
ddp:
  use_megatron_fsdp: true
#  team： a
#  ckpt_format： b
#  last： c  # mfsdp: ignore[TEAM901] known
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint" / "wide-colon.yaml").write_text(RULE, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.mfsdp-lint]\nextend-rules = ["lint/"]\n', encoding="utf-8")
    (tmp_path / "run.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def lint(*arguments: str) -> int:
    return main(["--output-format", "concise", "--target-bridge", "0.3.1", "--select", "TEAM", *arguments])


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if "TEAM901" in line]


def test_every_passage_is_a_finding_at_its_place_unless_a_comment_silences_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint("run.yaml") == 1
    assert told(capsys) == [
        "run.yaml:3:8: warning TEAM901 no colon",
        'run.yaml:4:15: error TEAM901 "ckpt_format" is followed by "#  ckpt_format： "',
    ]


def test_a_file_that_configures_no_run_is_nobody_s_business(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "run.yaml").write_text("other: 1\n#  team： a\n", encoding="utf-8")
    assert lint("run.yaml") == 0
    assert told(capsys) == []


def test_a_rule_is_for_the_kinds_of_files_that_it_names(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = "from megatron.bridge.training.config import ConfigContainer\n\ndef make():\n    cfg = ConfigContainer()\n"
    (repository / "run.py").write_text(f'"""\nteam： a\n"""\n{python}    return cfg\n', encoding="utf-8")
    assert lint("run.py") == 0
    assert told(capsys) == []


def test_what_is_safe_is_fixed(repository: Path) -> None:
    assert lint("run.yaml", "--fix") == 1
    assert (repository / "run.yaml").read_text(encoding="utf-8") == TEXT.replace("team：", "team:")


def test_a_fix_that_changes_a_setting_is_none(repository: Path) -> None:
    text = "ddp:\n  use_megatron_fsdp: true\n  note: |\n    team： a\n"
    (repository / "run.yaml").write_text(text, encoding="utf-8")
    assert lint("run.yaml", "--fix") == 1
    assert (repository / "run.yaml").read_text(encoding="utf-8") == text


def test_a_rule_is_listed_with_its_pattern(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--select", "TEAM", "--output-format", "json"]) == 0
    (rule,) = json.loads(capsys.readouterr().out)
    assert (rule["judges"], rule["files"], rule["fix"]["replace"]) == ("text", ["yaml"], ":")
    (own,) = (each for each in extended_rules([repository / "lint"]) if each.code == "TEAM901")
    assert "found where: the text of a yaml file matches ^" in render_rule(own)
    assert "Where the text of a yaml file matches `^" in pages([own])["TEAM901.md"]


def rule(**changed: object) -> Rule:
    case = {"severity": "info", "stage": "never", "message": "m", "consequence": "c"}
    data = {"code": "TEAM901", "name": "n", "summary": "s", "why": "w", "judges": "text", "applies": "always"}
    return read_rule({**data, "cases": [case], "finds": "x", **changed}, "rule.yaml", {})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"finds": "("}, "finds: '(' is no pattern: missing ), unterminated subpattern at position 0"),
        ({"files": ["ini"]}, "files: 'ini' is none of python"),
        ({"fix": {"replace": r"\g<y>", "safe": "always"}}, r"replace: '\\g<y>' is no replacement: unknown group"),
        ({"judges": "settings"}, "unknown field 'finds'"),
    ],
)
def test_a_rule_that_is_not_right_is_told_with_its_place(changed: dict[str, object], message: str) -> None:
    with pytest.raises(RuleError) as problem:
        rule(**changed)
    assert message in str(problem.value)
