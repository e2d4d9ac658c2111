"""Every idiom in every version where it can occur, beside what the real upstream code makes of it.

A recipe that is not found, a wrong value, a headline finding that is missing or told elsewhere, and a false alarm fail,
but for those in known_misses.txt. A known miss that is none any more fails too: `python benchmarks/idioms.py
--write-misses` takes it off the list.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.idioms.compare import compared, known_truth
from tests.idioms.known import Miss, known_misses
from tests.idioms.suite import VERSIONS, Decision, Idiom, idioms

EVERY = idioms()
RUNS = [(idiom, version) for idiom in EVERY for version in VERSIONS if idiom.occurs(version)]


@cache
def _known() -> frozenset[Miss]:
    return known_misses()


@pytest.mark.parametrize(("idiom", "version"), RUNS, ids=[f"{idiom.name}-{version}" for idiom, version in RUNS])
def test_the_linter_says_what_the_real_code_does(idiom: Idiom, version: str) -> None:
    known = {what for name, where, what in _known() if (name, where) == (idiom.name, version)}
    misses = set(compared(idiom, version).misses)
    assert not misses - known, "misses that are not known"
    assert not known - misses, "known misses that are none any more: take them off the list"


def test_the_list_of_known_misses_names_idioms_that_are_there() -> None:
    runs = {(idiom.name, version) for idiom, version in RUNS}
    assert {(name, version) for name, version, _ in _known()} <= runs


def test_there_are_200_idioms_and_more() -> None:
    assert len(EVERY) >= 200


@pytest.mark.parametrize("version", VERSIONS)
def test_the_truth_covers_every_idiom_of_a_version(version: str) -> None:
    assert set(known_truth(version)) == {idiom.name for idiom in EVERY if idiom.occurs(version)}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_an_idiom_marks_is_what_the_real_code_does(version: str) -> None:
    truth = known_truth(version)
    unconfirmed = [
        (idiom.name, each.code)
        for idiom in EVERY
        if idiom.occurs(version)
        for each in idiom.decisions
        if each.holds(version) and not _confirmed(each, truth[idiom.name])
    ]
    assert unconfirmed == []


def _confirmed(decision: Decision, record: dict[str, object]) -> bool:
    if decision.code.startswith("MFSDP7"):  # about names, which no value tells
        return True
    marks = record["marks"]
    assert isinstance(marks, dict)
    codes = {code for runs in marks.values() for run in runs for code in run["codes"]}
    return decision.code in codes or str(record["raised"]).startswith(f"{decision.code}:")


@pytest.mark.parametrize("version", VERSIONS)
def test_start_up_refuses_what_deserves_an_error_finding_and_nothing_else(version: str) -> None:
    """The codes of the truth are by our rules: what the real start-up says keeps them honest."""
    doubtful = [
        (name, run["refused"], run["codes"])
        for name, record in known_truth(version).items()
        for runs in record["marks"].values()
        for run in runs
        if run["refused"] is not None and "error" not in run["codes"].values()
    ]
    assert doubtful == []
