from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs.project import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
