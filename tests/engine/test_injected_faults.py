"""Whatever function of the linter fails at a file, the others are judged as usual, and the fault is told at that file.

A few of the functions, picked by a fixed seed; benchmarks/injected_faults.py tries all of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.engine.injected_faults import FILES, functions, name_of, reaching, run, write_files, wrong_with

SAMPLE = 3


@pytest.mark.parametrize("kind", FILES)
def test_a_function_that_fails_at_a_file_costs_that_file_alone(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MFSDP_LINT_DEBUG", raising=False)
    write_files()
    usual, bad = run(), f"bad.{kind}"
    working_on_it = reaching(bad, functions())
    assert len(working_on_it) > 60
    chosen = random.Random(kind).sample(working_on_it, SAMPLE)
    assert {name_of(each): wrong for each in chosen if (wrong := wrong_with(each, bad, usual))} == {}
