"""What is shown of a long run: on a terminal, once it takes a while, and gone before anything else is printed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from mfsdp_lint import process
from mfsdp_lint.cli import main

RECIPE = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    return llama3_8b_pretrain_config()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.py").write_text(RECIPE)
    monkeypatch.setattr(process, "PROGRESS_AFTER", 0.0)
    monkeypatch.setattr(process, "PROGRESS_EVERY", 0.0)


def test_a_pipe_sees_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    main(["recipe.py"])
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_how_far_each_stage_has_come_and_then_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["recipe.py"])
    lines = capsys.readouterr().err.split("\r\x1b[K")
    assert "functions read: 0 of 1" in lines
    assert "recipes judged: 0 of 1" in lines
    assert lines[-1] == ""


def test_what_is_quick_needs_no_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(process, "PROGRESS_AFTER", 3600.0)
    main(["recipe.py"])
    assert capsys.readouterr().err == ""


def test_a_real_terminal_is_left_clean() -> None:
    ours, theirs = pty.openpty()
    code = (
        "import sys; from mfsdp_lint import cli, process;"
        "process.PROGRESS_AFTER = process.PROGRESS_EVERY = 0; cli.main(['recipe.py'])"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000)
    os.close(ours)
    assert b"recipes judged" in shown
    assert shown.endswith(b"\r\x1b[K")
