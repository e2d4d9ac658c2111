"""Facts by version: which column stands for a version, and runs of equal facts."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.versions import column_of
from mfsdp_lint.megatron.vocabulary.tables import at, decode
from tools.vocabulary.generate import encode, runs_of

VERSIONS = ["0.12.0", "0.12.3", "0.14.0", "0.17.1", "0.19.0", "head"]


@pytest.mark.parametrize(
    ("asked", "stands_for"),
    [
        ("0.12.3", "0.12.3"),
        ("0.12.1", "0.12.0"),
        ("0.12", "0.12.0"),
        ("0.17.0rc0", "0.17.1"),  # nothing older in its line
        ("0.17.2", "0.17.1"),
        ("0.13.0", "0.12.3"),
        ("0.19.1", "0.19.0"),
        ("0.20.0.dev", "head"),
        ("1.0", "head"),
        ("head", "head"),
        ("0.11.0", None),
        ("main", None),
    ],
)
def test_the_column_that_stands_for_a_version(asked: str, stands_for: str | None) -> None:
    column = column_of(VERSIONS, asked)
    assert (None if column is None else VERSIONS[column]) == stands_for


def test_equal_neighbours_are_one_run() -> None:
    assert runs_of(["a", "a", None, "b", "a"]) == [[0, 1, "a"], [3, 3, "b"], [4, 4, "a"]]


def test_one_is_not_true() -> None:
    assert runs_of([1, True]) == [[0, 0, 1], [1, 1, True]]


def test_a_fact_is_found_again_and_only_where_it_holds() -> None:
    runs = [(0, 1, "a"), (3, 3, "b")]
    assert (at(runs, 1), at(runs, 2), at(runs, 3)) == ("a", None, "b")


@pytest.mark.parametrize("value", [NONE, Known({}), Known([1, "x"]), Known(True), NOT_NONE, UNKNOWN])
def test_values_survive_being_written_down(value: Value) -> None:
    assert decode(encode(value)) == value
