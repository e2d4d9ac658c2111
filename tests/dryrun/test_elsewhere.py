"""A rank that nobody here has started."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from mfsdp_lint.dryrun.worker import elsewhere, rank


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"):
        monkeypatch.setenv(name, "")  # what a rank sets is undone
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").mkdir()
    (tmp_path / "job.json").write_text(
        json.dumps({"limit": 100, "forks": True, "packages": ["libcst", "no-such-package"]})
    )
    return tmp_path


def test_it_has_a_number_from_the_launcher_and_ends_after_its_time(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    alarms: list[int] = []
    monkeypatch.setattr(rank, "main", asked.append)
    monkeypatch.setattr(signal, "alarm", alarms.append)
    for name, value in (("RANK", "0"), ("LOCAL_RANK", "0"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")):
        monkeypatch.setenv(name, value)
    elsewhere.main([str(job)])
    assert asked == [[str(job / "job.json"), str(job / "answers")]]
    assert alarms == [100]
    assert "SLURM_NTASKS" not in os.environ  # which counts the launcher
    assert json.loads((job / "answers" / "inventory.json").read_text())["versions"]["no-such-package"] is None


def test_without_a_number_it_does_nothing(job: Path) -> None:
    with pytest.raises(SystemExit, match="RANK is not set: start this with torch's launcher"):
        elsewhere.main([str(job)])


def test_a_job_is_run_once(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(rank, "main", asked.append)
    monkeypatch.setattr(signal, "alarm", lambda seconds: None)
    monkeypatch.setenv("RANK", "1")
    (job / "answers" / "start.1.json").touch()
    monkeypatch.setenv("LOCAL_RANK", "0")
    with pytest.raises(SystemExit, match="it was run already"):
        elsewhere.main([str(job)])
    monkeypatch.setenv("LOCAL_RANK", "1")  # the first rank of the machine has started for it
    elsewhere.main([str(job)])
    assert len(asked) == 1
