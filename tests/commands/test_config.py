"""`config` explains a key; `cache` shows and empties the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.engine import cache
from mfsdp_lint.inputs.configuration import EVERY_KEY
from mfsdp_lint.inputs.projects import OWN_FOLDER


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(cache.VARIABLE)
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_a_key_is_explained_with_its_value_here(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text('fail-on = "error"\n')
    assert main(["config", "fail-on"]) == 0
    assert capsys.readouterr().out == (
        "fail-on: the lowest severity that makes the run fail\n"
        "takes: choice: error, warning, info\n"
        "here: error (mfsdp-lint.toml)\n"
    )


def test_a_table_is_explained_with_its_keys(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mfsdp-lint.toml").write_text('[dry-run]\nexecutor = "slurm"\nmax-jobs = 4\nsetup = ["module load cuda"]\n')
    assert main(["config", "dry-run"]) == 0
    out = capsys.readouterr().out
    assert "  max-jobs (number): the most jobs that the recipes share\n" in out
    assert "here: executor = slurm, max-jobs = 4 (mfsdp-lint.toml)\n" in out
    assert out.endswith("setup count on the command line, and in a file that --config names\n")


def test_every_key_is_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["key", "takes", "meaning"]
    assert [row.split()[0] for row in rows] == [key.name for key in EVERY_KEY]


def test_a_misspelt_key_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "fial-on"]) == 2
    assert "fial-on: no such key; did you mean fail-on?" in capsys.readouterr().err


def test_the_cache_is_shown_and_emptied_of_its_own_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text("ddp:\n  use_megatron_fsdp: true\n")
    main(["."])
    (here / OWN_FOLDER / ".mine").write_text("x")
    capsys.readouterr()
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{here / OWN_FOLDER}\n"
    assert main(["cache", "clean"]) == 0
    assert capsys.readouterr().out == f"{here / OWN_FOLDER}: 2 files removed\n"
    assert sorted(each.name for each in (here / OWN_FOLDER).iterdir()) == [".gitignore", ".mine"]
