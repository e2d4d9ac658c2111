"""A few inputs that are nearly what they should be; `benchmarks/fuzz.py` has many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzzing.guard import guarded
from tests.fuzzing.targets import TARGETS, case_of

SLOW = {
    "rule": 40,
    "settings": 40,
    "requirements": 40,
    "yaml": 40,
    "python-text": 30,
    "python-program": 20,
    "everything": 5,
}
"""How many cases of those that take longer."""


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_crashes_hangs_or_reaches_outside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MFSDP_LINT_DEBUG", "1")
    TARGETS[name](case_of(name, 0, -1))  # what it imports, and makes once
    for number in range(SLOW.get(name, 200)):
        with guarded(tmp_path):
            TARGETS[name](case_of(name, 0, number))
