"""`mfsdp-lint dry-run` where nothing can be run, and what it answers with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.commands import dry_run
from mfsdp_lint.dryrun.inventory import PACKAGES, Installed

VERSIONS = {"megatron-bridge": "0.3.1", "megatron-core": "0.16.1", "torch": "2.13.0"}


@pytest.fixture
def without_torch(tmp_path: Path) -> str:
    """A Python that has nothing."""
    import venv

    venv.create(tmp_path / "bare", with_pip=False)
    return str(tmp_path / "bare" / "bin" / "python")


def test_the_setup_says_what_is_missing_and_how_to_install_it(
    without_torch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dry-run", "--check-setup", "--python", without_torch]) == 2
    out = capsys.readouterr().out
    assert "megatron-bridge     missing" in out
    checkout = Path(__file__).resolve().parents[2]
    assert f"{without_torch} -m pip install '{checkout}[dry-run,bridge]'" in out
    assert f"{without_torch} -m pip install --no-deps megatron-bridge==0.3.1" in out


def test_nothing_runs_without_torch(without_torch: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dry-run", "examples", "--python", without_torch]) == 2
    assert "has no torch, megatron-core" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the recipes to run: path.py::function, a file, a directory"),
        (["x.py", "--python", "no-such-python"], "--python: no-such-python: no such program"),
        (["x.py", "--python", "true"], "true cannot be asked what it has"),
        (["x.py", "--ranks", "none"], "argument --ranks: 'none' is not a number above 0"),
        (["x.py", "--ranks", "0"], "argument --ranks: '0' is not a number above 0"),
        (["x.py", "--timeout", "-1"], "argument --timeout: '-1' is not a number of seconds"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dry-run", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tier", "gpu"], "sees no GPU: this machine has none"),
        (["--executor", "slurm"], "--executor slurm: name a folder with --keep that this machine and the nodes see"),
        (["--executor", "slurm", "--tier", "introspect"], "--tier introspect has no ranks that anybody could start"),
        (["--partition", "all"], "--partition: nothing is submitted without --executor slurm"),
        (["--print-job"], "--print-job: nothing is submitted without --executor slurm"),
        (
            ["--executor", "slurm", "--time", "soon"],
            "--time soon: no time limit as Slurm writes it (minutes, H:M:S, D-H)",
        ),
        (["--executor", "slurm", "--time", "0"], "--time 0: a job takes at least a minute"),
        (["--resume", "--keep", "nowhere"], "--resume: --keep nowhere: no such folder"),
        (["--resume"], "--resume: name the folder with --keep that an earlier run has left its answers in"),
    ],
)
def test_who_launches_what_is_told(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ready = Installed("python", "3.11", {**dict.fromkeys(PACKAGES, "1.0"), **VERSIONS}, (), "this machine has none")
    monkeypatch.setattr(dry_run, "look", lambda python: ready)
    monkeypatch.setenv("PATH", "")
    assert main(["dry-run", "x.json", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def with_a_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives this Python all packages, and a torch of these lines, which megatron-core imports."""

    def give(lines: str) -> None:
        core = tmp_path / "megatron" / "core"
        core.mkdir(parents=True)
        (core / "__init__.py").write_text("import torch")
        (tmp_path / "torch.py").write_text(lines)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        everything = {**dict.fromkeys(PACKAGES, "1.0"), **VERSIONS}
        monkeypatch.setattr(dry_run, "look", lambda python: Installed(sys.executable, "3.11", everything))

    return give


def test_a_torch_that_cannot_be_imported_is_told(
    with_a_torch: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with_a_torch("raise ImportError('libtorch_cpu.so: cannot open shared object file')")
    assert main(["dry-run", "--check-setup"]) == 2
    out = capsys.readouterr().out
    assert "cpu         cannot run" in out
    assert "megatron-bridge cannot be imported: ImportError: libtorch_cpu.so: cannot open shared object file" in out


def test_imports_that_hang_end_with_the_time_limit(
    with_a_torch: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_a_torch(f"import pathlib, time; time.sleep(600); pathlib.Path({str(tmp_path / 'awake')!r}).touch()")
    (tmp_path / "right.json").write_text("{}")
    assert main(["dry-run", str(tmp_path / "right.json"), "--timeout", "2"]) == 2
    assert not (tmp_path / "awake").exists()
    assert "importing megatron-bridge took more than 2 s" in capsys.readouterr().out
