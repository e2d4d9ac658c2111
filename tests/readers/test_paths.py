"""The folders in which the files of a repository are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.inputs.projects import above


@pytest.mark.parametrize(
    ("here", "path", "folders"),
    [
        (".", "jobs/h100/a.sh", ["jobs/h100", "jobs", ""]),
        ("jobs", "h100/a.sh", ["h100", "", ".."]),
        ("jobs", "../other/a.sh", ["../other", ".."]),
    ],
)
def test_they_end_at_the_root_wherever_the_tool_is_started(
    here: str, path: str, folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path / here)
    assert above(path) == folders


def test_without_a_root_they_are_those_that_the_path_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert above("jobs/a.sh") == ["jobs", ""]
