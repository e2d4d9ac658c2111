"""docs/upgrade.md shows what the tool prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "upgrade.md").read_text(encoding="utf-8")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "recipes").mkdir()
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "recipes" / "team.py").write_text(text)


@pytest.mark.usefixtures("team")
def test_the_report_begins_as_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert main(["upgrade", "--from", "0.3.1", "--to", "0.6.0", "recipes/"]) == 1
    assert capsys.readouterr().out.startswith(shown)


@pytest.mark.usefixtures("team")
def test_the_patch_has_the_lines_that_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)[-1]
    main(["upgrade", "--from", "0.3.1", "--to", "0.6.0", "--pin", "--diff", "recipes/"])
    assert shown in capsys.readouterr().out
