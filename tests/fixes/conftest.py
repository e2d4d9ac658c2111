"""Projects whose files `--fix` changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

Fixed = Callable[..., dict[str, str]]


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fixed:
    """The files that `--fix` changes in a repository, and their new texts; twice, which has to change nothing more."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def fix(files: Mapping[str, str], *lint: str) -> dict[str, str]:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        found: list[dict[str, str]] = []
        for _ in range(2):
            main(["--no-cache", "--target-bridge", "0.3.1", "--fix", *lint])
            now = {path: (tmp_path / path).read_text() for path in files}
            found.append({path: text for path, text in now.items() if text != files[path]})
        capsys.readouterr()
        assert found[0] == found[1]
        return found[0]

    return fix
