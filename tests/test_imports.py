"""Start-up is a feature: what a run does not need is not imported. Measured by what is imported, not by a clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import mfsdp_lint

PYTHON = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def llama3_8b_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg
"""

SLOW = {
    *("dataclasses", "inspect", "yaml", "tomllib", "tomli", "difflib", "libcst", "pathspec", "torch", "megatron"),
    *(
        "asyncio",
        "concurrent",
        "email",
        "http",
        "logging",
        "multiprocessing",
        "socket",
        "ssl",
        "subprocess",
        "unittest",
    ),
    *("importlib.metadata", "pdb", "pydoc", "traceback", "xml"),
}
"""What takes a millisecond or more to import, and a file without findings has no need of."""

YAML = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: fsdp_dtensor\n"


def imported_by(directory: Path, *runs: Sequence[str]) -> tuple[int, set[str]]:
    """The highest exit code of runs in a fresh interpreter, and the modules that they imported."""
    program = (
        "import sys; before = set(sys.modules); from mfsdp_lint.cli import main;"
        f"code = max([main(arguments) for arguments in {[*runs]!r}]);"
        "print(code, *sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    path = [str(Path(mfsdp_lint.__file__).parents[1]), *sys.path]
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = result.stderr.splitlines()[-1].split()
    return int(code), set(modules)


def test_version_imports_nothing_but_the_command_line() -> None:
    code, modules = imported_by(Path.cwd(), ["--version"])
    assert code == 0
    own = {"mfsdp_lint", *(f"mfsdp_lint.{each}" for each in ("cli", "core", "core.version", "terminal"))}
    assert modules == {"__future__", *own}


@pytest.mark.parametrize(("name", "text"), [("recipe.py", PYTHON), ("overrides.yaml", YAML)])
def test_runs_without_findings_never_import_libcst(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    formats = ("full", "concise", "json", "github")
    code, modules = imported_by(tmp_path, *([f"--output-format={each}", "--fix"] for each in formats))
    assert code == 0
    assert {module for module in modules if module.partition(".")[0] in ("libcst", "torch", "megatron")} == set()


def test_linting_imports_neither_what_it_reads_nor_torch(tmp_path: Path) -> None:
    (tmp_path / "recipe.py").write_text("raise SystemExit('imported')\n" + PYTHON, encoding="utf-8")
    code, modules = imported_by(tmp_path, [])
    assert code == 0
    assert not {"recipe", "torch", "megatron"} & modules


TOOL = "import os\n\nprint(os.name)\n"


def test_a_file_that_says_nothing_of_training_imports_no_evaluator(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(TOOL, encoding="utf-8")
    code, modules = imported_by(tmp_path, ["tool.py"])
    assert code == 0
    assert {module for module in modules if module.startswith("mfsdp_lint.readers.python.")} == set()


def test_a_launch_of_a_program_that_is_not_at_hand_imports_no_evaluator(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("torchrun pretrain_gpt.py --use-megatron-fsdp\n", encoding="utf-8")
    _, modules = imported_by(tmp_path, ["--no-cache", "run.sh"])
    assert "mfsdp_lint.readers.shell.run" in modules
    assert {module for module in modules if module.startswith("mfsdp_lint.readers.python.")} == set()


@pytest.mark.parametrize(("name", "text"), [("tool.py", TOOL), ("recipe.py", PYTHON)])
def test_a_clean_file_imports_nothing_that_is_slow(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, modules = imported_by(tmp_path, ["--no-cache", name])
    assert code == 0
    assert {each for each in modules if each in SLOW or each.partition(".")[0] in SLOW} == set()


def test_a_clean_recipe_imports_these_packages_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "recipe.py").write_text(PYTHON, encoding="utf-8")
    _, modules = imported_by(tmp_path, ["--no-cache", "recipe.py"])
    packages = {module.split(".")[1] for module in modules if module.startswith("mfsdp_lint.")}
    stages = {"core", "megatron", "inputs", "readers", "snapshots", "rules", "engine"}
    shown = {"cli", "commands", "process", "reports", "terminal"}
    assert packages == stages | shown | {"fixes", "checkpoints"}
    assert "mfsdp_lint.megatron.front_ends" not in modules
    assert {each for each in modules if each.startswith("mfsdp_lint.fixes.")} == {"mfsdp_lint.fixes.edits"}
    assert {each for each in modules if each.startswith("mfsdp_lint.checkpoints.")} == {"mfsdp_lint.checkpoints.facts"}
    assert "mfsdp_lint.megatron.vocabulary.tables" not in modules
