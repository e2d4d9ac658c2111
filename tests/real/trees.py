"""The recipe tree of the released wheel, and copies of it with a mistake put in."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / ".cache" / "megatron-bridge-0.3.1"
RECIPES = "megatron/bridge/recipes"

SWITCH_OFF = "cfg.ddp.use_megatron_fsdp = False"


def copy_to(folder: Path) -> Path:
    """A copy of the released tree, in a git repository of its own with everything committed."""
    assert RELEASED.is_dir(), f"{RELEASED} is missing: run `make cache`"
    tree = folder / "tree"
    shutil.copytree(RELEASED / "megatron", tree / "megatron")
    git(tree, "init", "--quiet")
    commit(tree)
    return tree


def git(tree: Path, *arguments: str) -> str:
    command = [
        "git",
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.com",
        "-c",
        "core.autocrlf=false",
        *arguments,
    ]
    return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "as it is")


def rewrite(tree: Path, pattern: str, replacement: str, recipes: str = RECIPES) -> int:
    """Replace a pattern in every recipe file; how many places that were."""
    count = 0
    for path in sorted((tree / recipes).rglob("*.py")):
        text, times = re.subn(pattern, replacement, path.read_text(), flags=re.MULTILINE)
        if times:
            path.write_text(text)
            count += times
    return count


@dataclass(frozen=True)
class Run:
    """What one call of the command line printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of a run with `--output-format json`."""
        found: list[dict[str, Any]] = json.loads(self.out)["findings"]
        return found

    def of(self, code: str) -> list[dict[str, Any]]:
        """The findings of one rule."""
        return [finding for finding in self.findings if finding["code"] == code]


def lint(tree: Path, *arguments: str) -> Run:
    """Run the command line in a tree."""
    done = subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", *arguments], cwd=tree, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr + done.stdout
    return Run(done.returncode, done.stdout, done.stderr)


def errors(run: Run) -> list[str]:
    """Every error finding as `CODE path:line`."""
    return [f"{each['code']} {each['path']}:{each['line']}" for each in run.findings if each["severity"] == "error"]


def changed_lines(tree: Path) -> tuple[list[str], list[str]]:
    """The lines that the working tree takes away and adds, stripped."""
    diff = git(tree, "diff", "--unified=0").splitlines()
    removed = [line[1:].strip() for line in diff if line.startswith("-") and not line.startswith("---")]
    added = [line[1:].strip() for line in diff if line.startswith("+") and not line.startswith("+++")]
    return removed, added
