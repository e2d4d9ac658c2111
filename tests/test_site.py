"""docs/ is a site: it builds with every link between its pages, and the tutorial shows what the tool prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.mark.xdist_group("browser")  # where the playground has the same site
def test_the_site_builds_strictly(site: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, built = site
    assert (built.returncode, built.stdout.strip()) == (0, ""), built.stderr
    assert (folder / "tutorial" / "index.html").exists()
    assert (folder / "rules" / "MFSDP101" / "index.html").exists()


def test_every_command_of_the_tutorial_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    recipe = re.search(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    assert recipe
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "llama.py").write_text(recipe[1], encoding="utf-8")
    shown = re.findall(r"```console\n\$ mfsdp-lint ([^\n]*)\n(.*?)```", TUTORIAL, re.DOTALL)
    assert len(shown) == TUTORIAL.count("```console")
    monkeypatch.chdir(tmp_path)
    for arguments, output in shown:
        main(arguments.split())
        assert capsysbinary.readouterr().out.decode() == output
