"""Asks the linter as a user does: a command in a process of its own, with its document as the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def document(folder: Path, *arguments: str) -> dict[str, Any]:
    """Return what a command prints as JSON, run in a folder. Raises RuntimeError if it fails."""
    command = [sys.executable, "-m", "mfsdp_lint", *arguments, "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{folder}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
