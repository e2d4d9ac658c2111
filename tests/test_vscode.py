"""The extension for VS Code: its own tests, and what it asks of the server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mfsdp_lint.cli import COMMANDS

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_its_own_tests_pass() -> None:
    done = subprocess.run(["node", "--test", "test/"], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_starts_a_command_that_there_is() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    program, command = manifest["contributes"]["configuration"]["properties"]["mfsdp-lint.command"]["default"]
    assert (program, command in COMMANDS) == ("mfsdp-lint", True)
