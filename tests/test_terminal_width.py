"""On a terminal of any width no word and no table is broken; without one, lines are as long as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.screens import on_a_terminal

ROOT = Path(__file__).parent.parent
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def lines_on_a_terminal(width: int, *arguments: str) -> list[str]:
    """Return the lines that a command prints on a terminal of this width, without their colours."""
    return COLOR.sub("", on_a_terminal(*arguments, width=width)).replace("\x1b[K", "").splitlines()


COMMANDS = {
    "check": ["."],
    "audit": ["audit", "."],
    "audit settings": ["audit", "llama3_8b_fsdp.py", "--settings", "checkpoint.*"],
    "why": ["why", "llama3_8b_fsdp.py::llama3_8b_fsdp", "checkpoint.ckpt_format"],
    "rules": ["rules"],
}


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_lines_fit_but_for_words_that_are_wider(command: list[str], width: int) -> None:
    for line in lines_on_a_terminal(width, *command):
        last = line.rpartition("\r")[2]
        assert len(last) <= width or max(map(len, last.split())) > width - 25, last


def test_places_that_do_not_fit_are_below_their_settings() -> None:
    lines = lines_on_a_terminal(80, "audit", "llama3_8b_fsdp.py", "--settings", "ddp.*")
    setting = next(at for at, line in enumerate(lines) if line.startswith("  ddp.bucket_size "))
    assert lines[setting].split() == ["ddp.bucket_size", "–"]
    assert lines[setting + 1] == "      default, megatron/bridge/recipes/common.py:75"


def test_words_are_whole() -> None:
    wide, narrow = (" ".join(lines_on_a_terminal(width, "rules")).split() for width in (400, 60))
    assert sorted(wide) == sorted(narrow)
