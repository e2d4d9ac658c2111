"""What the README shows is what the tool prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_finding_on_the_first_screen_is_real() -> None:
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```console\n")[1].split("```\n")[0]
    command, _, shown = block.partition("\n")
    assert command.startswith("$ mfsdp-lint ")
    printed = subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", *command.split()[2:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    ).stdout
    assert printed == shown
