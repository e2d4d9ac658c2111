"""On a terminal of any width no word and no table is broken; without one, lines are as long as they are."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(width: int, *arguments: str) -> list[str]:
    """Return the lines that a command prints on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "MFSDP_LINT_CACHE_DIR": ""}
    command = [sys.executable, "-m", "mfsdp_lint", *arguments]
    with subprocess.Popen(command, cwd=ROOT / "examples", env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(ours)
        assert process.wait() in (0, 1)
    return COLOR.sub("", b"".join(pieces).decode()).replace("\x1b[K", "").replace("\r\n", "\n").splitlines()


COMMANDS = {
    "check": ["."],
    "audit": ["audit", "."],
    "audit settings": ["audit", "llama3_8b_fsdp.py", "--settings", "checkpoint.*"],
    "why": ["why", "llama3_8b_fsdp.py::llama3_8b_fsdp", "checkpoint.ckpt_format"],
    "rules": ["rules"],
}


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_lines_fit_but_for_words_that_are_wider(command: list[str], width: int) -> None:
    for line in on_a_terminal(width, *command):
        last = line.rpartition("\r")[2]
        assert len(last) <= width or max(map(len, last.split())) > width - 25, last


def test_places_that_do_not_fit_are_below_their_settings() -> None:
    lines = on_a_terminal(80, "audit", "llama3_8b_fsdp.py", "--settings", "ddp.*")
    setting = next(at for at, line in enumerate(lines) if line.startswith("  ddp.bucket_size "))
    assert lines[setting].split() == ["ddp.bucket_size", "–"]
    assert lines[setting + 1] == "      default, megatron/bridge/recipes/common.py:75"


def test_words_are_whole() -> None:
    wide, narrow = (" ".join(on_a_terminal(width, "rules")).split() for width in (400, 60))
    assert sorted(wide) == sorted(narrow)
