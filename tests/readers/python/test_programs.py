"""What the evaluator says of a program is what Python does: random programs, run and read.

A few of them: `python benchmarks/property_campaign.py` tries thousands.
"""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import HealthCheck, event, given, settings, target

from mfsdp_lint.readers.python.state.paths import STEP_LIMIT
from tests.readers.python.agreement import evaluate, examine, snapshot
from tests.readers.python.programs import Program, programs, write
from tests.readers.python.samples import counted

CI = settings(max_examples=20, suppress_health_check=list(HealthCheck))


@CI
@given(programs())
def test_what_is_said_of_a_program_holds_when_python_runs_it(program: Program) -> None:
    verdict = examine(program)
    event("nothing unknown" if program.decided else "configurations handed in" if program.handed else "unknowns")
    event("ran" if verdict.runs else "raised")
    target(float(len(program.text)), label="length")
    assert not verdict.disagreements, "\n".join([*verdict.disagreements, program.text])


@CI
@given(programs())
def test_a_second_reading_says_the_same_in_as_many_steps(program: Program) -> None:
    readings = []
    for _ in range(2):
        with counted() as steps:
            readings.append((snapshot(evaluate(program.text)), steps.count))
    assert readings[0] == readings[1]
    assert readings[0][1] <= 4 * STEP_LIMIT


def test_nearly_all_of_a_program_without_unknowns_is_decided() -> None:
    compared = decided = 0
    for seed in range(160):
        program = write(random.Random(seed).randrange)
        if program.decided:
            verdict = examine(program)
            assert not verdict.disagreements, "\n".join([*verdict.disagreements, program.text])
            assert not verdict.lost, program.text
            compared += verdict.compared
            decided += verdict.decided
    assert compared > 1_000
    # Nearly all programs are decided as a whole, and one that is not followed counts for 1.5 % of these few.
    assert decided > 0.95 * compared


def test_most_of_a_program_with_unknowns_is_decided() -> None:
    compared: Counter[bool] = Counter()
    decided: Counter[bool] = Counter()
    for seed in range(120):
        program = write(random.Random(seed).randrange)
        if not program.decided:
            verdict = examine(program)
            assert not verdict.disagreements, "\n".join([*verdict.disagreements, program.text])
            compared[program.handed] += verdict.compared
            decided[program.handed] += verdict.decided
    assert compared[False] > 2_000
    assert decided[False] > 0.75 * compared[False]
    # Of a configuration that somebody hands in, only what is written to it is known.
    assert compared[True] > 2_000
    assert decided[True] > 0.25 * compared[True]
