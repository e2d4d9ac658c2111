from __future__ import annotations

from pathlib import Path

import pytest

from tests.megatron.front_ends.project import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)
