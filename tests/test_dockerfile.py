"""The Dockerfile, as far as it shows without a daemon: what it copies is there, and nobody is root."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LET_THROUGH = {
    line.removeprefix("!")
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line.startswith("!")
}


def test_what_it_copies_is_there_and_not_ignored() -> None:
    copied = {name for line in re.findall("^COPY (.*)", DOCKERFILE, re.MULTILINE) for name in line.split()[:-1]}
    assert copied == LET_THROUGH
    assert all((ROOT / name).exists() for name in copied)


def test_it_ends_as_a_user_who_is_not_root() -> None:
    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.findall("^USER (.*)", last, re.MULTILINE) == ["linter"]
    assert last.index("USER") < last.index("ENTRYPOINT")
