"""`mfsdp-lint dry-run` where nothing can be run, and what it answers with."""

from __future__ import annotations

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
    assert f"{without_torch} -m pip install 'mfsdp-lint[dry-run,bridge]'" in out
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
        (["--launcher", "srun"], "--launcher srun: there is no srun on the PATH"),
        (["--launcher", "print"], "--launcher print: say with --keep which folder to write the jobs to"),
        (["--launcher", "print", "--tier", "introspect"], "--tier introspect has no ranks that anybody could launch"),
        (["--answers", "nowhere"], "--answers nowhere: there are no jobs in it"),
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
