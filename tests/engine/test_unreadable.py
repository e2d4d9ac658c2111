"""Files that are not checked are told (MFSDP901), with the Python that would have to read them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs import dependents
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import SIZE_LIMIT


def found(folder: Path, text: str) -> list[Finding]:
    (folder / "recipes.py").write_text(text)
    findings = run(Options(paths=(str(folder),), target_bridge="0.3.1")).findings
    return [each for each in findings if each.code == "MFSDP901"]


def test_what_this_python_does_not_read_is_no_mistake_of_the_file(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "def finetune(:\n")
    version = ".".join(map(str, sys.version_info[:2]))
    assert finding.message.startswith(f"not checked: not valid Python {version}: ")
    assert (finding.severity, finding.span.line) == ("info", 1)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_valid_python_of_a_newer_version_is_told_as_not_checked_by_this_one(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "def finetune[T](x: T) -> T:\n    return x\n")
    assert finding.severity == "info"


def test_strings_that_only_a_newer_python_reads_cost_nothing_but_their_own_value(tmp_path: Path) -> None:
    (tmp_path / "recipes.py").write_text(
        "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
        "def mine(d, **more):\n"
        "    print(f'é {d['a']}' 'b'); cfg = llama3_8b_pretrain_config(); y = f'{d[\n      'a']}'\n"
        "    cfg.ddp.use_megatron_fsdp = True; cfg.checkpoint.ckpt_format = f'{'torch'}'\n"
        "    x = f'{d['a']}'; cfg.checkpoint.ckpt_format = 'torch_dist'\n"
        "    return cfg\n"
    )
    findings = run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).findings
    assert [(each.code, each.span.line, each.span.column) for each in findings if each.severity == "error"] == [
        ("MFSDP101", 6, 51)
    ]
    assert not [each for each in findings if each.code == "MFSDP901"]


def test_what_is_read_is_not_told(tmp_path: Path) -> None:
    assert found(tmp_path, "def f():\n    pass\n") == []


@pytest.mark.parametrize("content", [b"def f(:\n", b"\xff\xfe", b"# coding: nonsense\n", b"x = 1\0"])
def test_what_says_nothing_of_training_is_dismissed_however_broken_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tool.py").write_bytes(content)
    assert run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).findings == ()


def test_a_broken_file_that_a_recipe_imports_is_told_whatever_it_says(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("def f(:\n")
    (tmp_path / "mine.py").write_text(
        "from tool import f\nfrom megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
        "def mine():\n    cfg = llama3_8b_pretrain_config()\n    f(cfg)\n    return cfg\n"
    )
    findings = run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).findings
    assert [(each.code, each.severity, Path(each.span.path).name) for each in findings] == [
        ("MFSDP907", "info", "mine.py"),  # what f does with the configuration decides it
        ("MFSDP901", "error", "tool.py"),
    ]


LARGE = "# " + "x" * SIZE_LIMIT + "\n"


@pytest.mark.parametrize("name", ["recipes.py", "train.sh", "run.yaml", "recipes.ipynb"])
def test_a_file_that_is_too_large_is_told_wherever_its_recipe_comes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(LARGE + "from megatron.bridge import training\n")
    (finding,) = run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).findings
    assert (finding.code, finding.message) == ("MFSDP901", "not checked: larger than 4 MB")


@pytest.mark.parametrize(("beginning", "severity"), [("", "info"), ("import megatron.bridge\n", "error")])
def test_it_is_an_error_where_what_is_read_speaks_of_training(tmp_path: Path, beginning: str, severity: str) -> None:
    (finding,) = found(tmp_path, beginning + LARGE)
    assert finding.severity == severity


def test_where_there_is_nothing_to_check_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    remarks = run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).remarks
    assert "no files to check under the given paths" in remarks


def test_a_project_that_is_too_large_to_search_for_launch_scripts_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependents, "MOST_FOLDERS", 2)
    (tmp_path / ".git").mkdir()
    for name in "abcd":
        (tmp_path / name).mkdir()
    (tmp_path / "recipes.py").write_text("import megatron.bridge\n")
    remarks = run(Options(paths=(str(tmp_path / "recipes.py"),), target_bridge="0.3.1")).remarks
    assert any("launch scripts are looked for in the first" in remark for remark in remarks)
