"""What a project says of rules: where they do not count, how severe they are, and which are on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options

WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.yaml", "old/theirs.yaml"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(WRONG, encoding="utf-8")


def found(**options: object) -> list[Finding]:
    return list(run(Options(target_bridge="0.3.1", select=("MFSDP101",), **options)).findings)  # type: ignore[arg-type]


def test_rules_do_not_count_in_files_that_match() -> None:
    mine, theirs = found(per_file_ignores=(("old/*", ("MFSDP1",)),))
    assert mine.suppressed is None
    assert theirs.suppressed is not None
    assert theirs.suppressed.by == "configuration"
    assert theirs.suppressed.reason == "per-file-ignores: old/*"


def test_they_are_named_by_code_prefix_or_name() -> None:
    for word in ("MFSDP101", "MFSDP1", "fsdp-checkpoint-format"):
        assert all(each.suppressed for each in found(per_file_ignores=(("*.yaml", (word,)),)))


def test_what_does_not_count_is_not_fixed_and_is_counted() -> None:
    options = Options(
        target_bridge="0.3.1",
        select=("MFSDP101",),
        per_file_ignores=(("*.yaml", ("MFSDP101",)),),
        fix=True,
        unsafe_fixes=True,
    )
    summary = run(options).summary
    assert (summary.findings, summary.suppressed, summary.fixed) == (0, 2, 0)
    assert Path("mine.yaml").read_text(encoding="utf-8") == WRONG


def test_a_project_says_how_severe_a_rule_is() -> None:
    assert {each.severity for each in found()} == {"error"}
    for word in ("MFSDP101", "MFSDP", "fsdp-checkpoint-format"):
        (first, _) = found(severity=((word, "info"),))
        assert first.severity == "info"
        assert {each.severity for each in first.recipes} == {"info"}


def test_the_longest_prefix_decides_how_severe() -> None:
    assert {each.severity for each in found(severity=(("MFSDP101", "warning"), ("MFSDP1", "info")))} == {"warning"}


def test_more_rules_are_added_to_those_that_are_selected() -> None:
    assert found(extend_select=("MFSDP903",)) == found()
    options = Options(target_bridge="0.3.1", select=("MFSDP3",), extend_select=("MFSDP101",))
    assert {each.code for each in run(options).findings} >= {"MFSDP101"}
