"""The hooks, as a project gets them: installed by pre-commit into an environment of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.xdist_group("pre-commit"), pytest.mark.long]

CHECKOUT = Path(__file__).parents[1]

WRONG = "ddp:\n  use_megatron_fsdp: true\n  use_distributed_optimizer: true\ndist:\n  use_tp_pp_dp_mapping: true\n"
"""Cannot start; the safe fix switches the mapping off."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a command with a home, an identity and a pre-commit cache of its own."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[user]\nname = A Tester\nemail = tester@example.com\n[commit]\ngpgsign = false\n[init]\ndefaultBranch = main\n"
    )
    git_free = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    environment = git_free | {
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
    }
    environment.pop("PYTHONPATH", None)

    def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )

    return run


@pytest.fixture(scope="module")
def product(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a repository with everything committed, whatever state the real one is in."""
    copy = tmp_path_factory.mktemp("product")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=CHECKOUT).stdout
    for name in filter(None, listed.split("\0")):
        source = CHECKOUT / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)
    return committed(run, copy)


@pytest.fixture(scope="module")
def hook(run: Run, product: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a hook of this checkout: all tests share the environment that pre-commit makes for it."""
    config = tmp_path_factory.mktemp("config") / "pre-commit.yaml"
    revision = run("git", "rev-parse", "HEAD", cwd=product).stdout.strip()
    hooks = [{"id": "mfsdp-lint"}, {"id": "mfsdp-lint-fix"}]
    config.write_text(json.dumps({"repos": [{"repo": str(product), "rev": revision, "hooks": hooks}]}))

    def hook(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        pre_commit = (sys.executable, "-m", "pre_commit", "run", "--config", str(config))
        return run(*pre_commit, *arguments, cwd=cwd)

    return hook


def committed(run: Run, directory: Path) -> Path:
    for command in ("init --quiet", "add --all", "commit --quiet --message everything"):
        result = run("git", *command.split(), cwd=directory)
        assert result.returncode == 0, result.stdout
    return directory


def test_it_reports_and_fixes(run: Run, hook: Run, tmp_path: Path) -> None:
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text(WRONG)
    (tmp_path / "launch").write_text("#!/usr/bin/env python3\nprint('Python by its first line only')\n")
    (tmp_path / "launch").chmod(0o755)
    committed(run, tmp_path)

    check = hook("mfsdp-lint", "--all-files", cwd=tmp_path)
    assert check.returncode == 1, check.stdout
    assert "overrides.yaml:5:" in check.stdout
    assert "1 file, 1 recipe: 1 finding (1 error); 1 fixable with --fix; " in check.stdout

    fix = hook("mfsdp-lint-fix", "--all-files", cwd=tmp_path)
    assert "files were modified by this hook" in fix.stdout
    assert overrides.read_text() == WRONG.replace("mapping: true", "mapping: false")
    committed_fix = run("git", "commit", "--quiet", "--all", "--message", "fixed", cwd=tmp_path)
    assert committed_fix.returncode == 0, committed_fix.stdout

    again = hook("mfsdp-lint", "--all-files", cwd=tmp_path)
    assert again.returncode == 0, again.stdout


def test_what_is_excluded_is_left_out_and_names_may_be_odd(run: Run, hook: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.mfsdp-lint]\nexclude = ["old"]\n')
    (tmp_path / "old").mkdir()
    for name in ("old/overrides.yaml", "my overrides.yaml", "-fix.yaml"):
        (tmp_path / name).write_text(WRONG)
    committed(run, tmp_path)

    check = hook("mfsdp-lint", "--all-files", cwd=tmp_path)
    assert check.returncode == 1, check.stdout
    assert "2 files, 2 recipes: 2 findings (2 errors)" in check.stdout
    assert "my overrides.yaml:5:" in check.stdout
    assert "-fix.yaml:5:" in check.stdout

    excluded = hook("mfsdp-lint", "--files", "old/overrides.yaml", cwd=tmp_path)
    assert excluded.returncode == 0, excluded.stdout
    assert "0 files, 0 recipes" in excluded.stdout or "Passed" in excluded.stdout

    nothing = hook("mfsdp-lint", "--files", "pyproject.toml", cwd=tmp_path)
    assert nothing.returncode == 0, nothing.stdout
    assert "no files to check" in nothing.stdout


def test_a_helper_is_checked_with_the_recipes_that_use_it(run: Run, hook: Run, tmp_path: Path) -> None:
    (tmp_path / "sharding.py").write_text("def shard(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n")
    (tmp_path / "big_recipe.py").write_text(
        "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\nfrom sharding import shard\n\n\n"
        "def big():\n    cfg = llama3_8b_pretrain_config()\n    cfg.dist.use_tp_pp_dp_mapping = True\n"
        "    return shard(cfg)\n"
    )
    committed(run, tmp_path)

    check = hook("mfsdp-lint", "--files", "sharding.py", cwd=tmp_path)
    assert check.returncode == 1, check.stdout
    assert "error[MFSDP302]" in check.stdout
    assert "--> sharding.py:2:33" in check.stdout
    assert "dist.use_tp_pp_dp_mapping is True here (big_recipe.py:7)" in check.stdout
