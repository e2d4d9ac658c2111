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
"""Functions of the linter that are tried at least; a part of them works on the file."""
WORKING = 6
"""Of these at least so many have to: where a kind of file needs few functions, more are tried."""


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
    working_on_it: dict[str, str] = {}
    for number, each in enumerate(random.Random(kind).sample(every, len(every))):
        if number >= TRIED and len(working_on_it) >= WORKING:
            break
        if (wrong := wrong_with(each, f"bad.{kind}", usual)) is not None:
            working_on_it[name_of(each)] = wrong
    assert len(working_on_it) >= WORKING
    assert {name: wrong for name, wrong in working_on_it.items() if wrong} == {}
