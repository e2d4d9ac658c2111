"""docs/ is a site: it builds with every link between its pages, and the tutorial shows what the tool prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert (built.returncode, built.stdout.strip()) == (0, ""), built.stderr
    assert (tmp_path / "tutorial" / "index.html").exists()
    assert (tmp_path / "rules" / "MFSDP101" / "index.html").exists()


def test_every_command_of_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    recipe = re.search(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    assert recipe
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "llama.py").write_text(recipe[1], encoding="utf-8")
    shown = re.findall(r"```console\n\$ mfsdp-lint ([^\n]*)\n(.*?)```", TUTORIAL, re.DOTALL)
    assert len(shown) == TUTORIAL.count("```console")
    for arguments, output in shown:
        assert _printed(arguments, tmp_path) == output


def _printed(arguments: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", *arguments.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    ).stdout
