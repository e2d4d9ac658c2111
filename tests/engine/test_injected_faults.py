"""Whatever function of the linter fails at a file, the others are judged as usual, and the fault is told at that file.

A few of the functions, picked by a fixed seed; benchmarks/injected_faults.py tries all of them.
"""

from __future__ import annotations

import random
from pathlib import Path
from types import FunctionType

import pytest

from tests.engine.injected_faults import FILES, functions, name_of, run, write_files, wrong_with

TRIED = 40
"""Functions of the linter; a part of them works on the file."""


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> list[FunctionType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("usual"))
        write_files()
        run()  # what is loaded once is loaded
        return functions()


@pytest.mark.parametrize("kind", FILES)
def test_a_function_that_fails_at_a_file_costs_that_file_alone(
    kind: str, every: list[FunctionType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MFSDP_LINT_DEBUG", raising=False)
    write_files()
    usual = run()
    tried = {name_of(each): wrong_with(each, f"bad.{kind}", usual) for each in random.Random(kind).sample(every, TRIED)}
    working_on_it = {name: wrong for name, wrong in tried.items() if wrong is not None}
    assert len(working_on_it) > TRIED / 10
    assert {name: wrong for name, wrong in working_on_it.items() if wrong} == {}
