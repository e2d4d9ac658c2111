"""Linting executes nothing of what it reads, wherever code was planted for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mfsdp_lint

PLANTED = "import pathlib\npathlib.Path({mark!r}).write_text('executed')\nraise SystemExit('executed')\n"

MODULES = (
    # What the tool and its libraries import.
    *("argparse", "ast", "csv", "difflib", "json", "libcst", "pathspec", "pickle", "platform", "signal", "tomllib"),
    *("traceback", "typing", "unicodedata", "yaml", "yaml_ft"),
    # What Python, or a careless tool, starts with.
    *("conftest", "setup", "sitecustomize", "usercustomize", "noxfile", "megatron", "torch"),
)

RECIPE = """\
import json
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from helper import fsdp
exec("import pathlib; pathlib.Path({mark!r}).write_text('executed')")
eval("__import__('pathlib').Path({mark!r}).write_text('executed')")


def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg
"""
YAML = """\
ddp:
  use_megatron_fsdp: true
checkpoint:
  ckpt_format: !!python/object/apply:os.system ["touch {mark}"]
  save: ${{oc.env:HOME}}/$(touch {mark})
  load: !!python/name:executed.x
"""
GIT_CONFIG = """\
[core]
    fsmonitor = touch {mark}
    pager = touch {mark}
    editor = touch {mark}
    hooksPath = .
    sshCommand = touch {mark}
    attributesFile = .gitattributes
[diff]
    external = touch {mark}
[filter "x"]
    clean = touch {mark}
    smudge = touch {mark}
    process = touch {mark}
[alias]
    status = !touch {mark}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with code that leaves a mark where it is executed."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    mark = str(tmp_path / "mark")
    planted = PLANTED.format(mark=mark)
    for name in MODULES:
        (folder / f"{name}.py").write_text(planted)
    (folder / "recipe.py").write_text(RECIPE.format(mark=mark))
    (folder / "helper").mkdir()
    (folder / "helper" / "__init__.py").write_text(planted)
    (folder / "overrides.yaml").write_text(YAML.format(mark=mark))
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.mfsdp-lint]\nsearch-path = ['.']\n")
    (folder / ".gitattributes").write_text("*.py filter=x diff=x\n")
    with (folder / ".git" / "config").open("a") as file:
        file.write(GIT_CONFIG.format(mark=mark))
    for hook in ("post-checkout", "pre-commit", "fsmonitor-watchman", "post-index-change"):
        path = folder / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
    return folder


COMMANDS = (
    (".",),
    ("--output-format", "json", "."),
    ("--fix", "--unsafe-fixes", "."),
    ("--diff", "."),
    ("audit", "."),
    ("why", "recipe.py::recipe", "checkpoint.ckpt_format"),
    ("enable", "recipe.py::recipe"),
    ("upgrade", "--to", "0.6.0", "--pin", "."),
)


@pytest.mark.parametrize(
    ("as_module", "command"), [(True, (".",)), *((False, command) for command in COMMANDS)], ids=str
)
def test_planted_code_stays_unrun(as_module: bool, command: tuple[str, ...], project: Path) -> None:
    path = str(Path(mfsdp_lint.__file__).parents[1])
    script = project.parent / "mfsdp-lint"
    script.write_text("import sys\nfrom mfsdp_lint.cli import main\nsys.exit(main())\n")
    done = subprocess.run(
        [sys.executable, *(["-m", "mfsdp_lint"] if as_module else [str(script)]), *command],
        cwd=project,
        env={**os.environ, "PYTHONPATH": path, "PAGER": f"touch {project.parent / 'mark'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "internal error" not in done.stderr
    assert not (project.parent / "mark").exists()
