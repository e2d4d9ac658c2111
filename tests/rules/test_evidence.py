"""The evidence of a rule is the line that enforces it: compared with the wheel that is at hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule
from tests.rules.sites import SITES
from tools.coverage.checks import Check, checks_of
from tools.coverage.covered import SHORTEST

VERSION = "0.3.1"
WHEEL = Path(__file__).parents[2] / f".cache/megatron-bridge-{VERSION}"
NEAR = 40
"""Lines between the evidence and the check with the rule's error text: a rule may name the condition in front of it."""


def evidence() -> Iterator[Any]:
    """Yield each rule with a place of its evidence in a file of the wheel."""
    for rule in load_rules():
        for place in rule.evidence.get(VERSION, ()):
            path = WHEEL / place.path.removeprefix("src/")
            if path.is_file():
                yield pytest.param(rule, path, place.line, id=f"{rule.code}-{path.name}:{place.line}")


@cache
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@cache
def checks(path: Path) -> list[Check]:
    return checks_of("\n".join(lines(path)))


def pieces(rule: Rule) -> list[str]:
    """Return the pieces of text in the errors that the rule promises for the version."""
    texts = [case.at(SITES[VERSION]).error for case in rule.cases if case.versions.truth(SITES[VERSION]) is not False]
    return [piece for text in texts if text for piece in text.pieces() if len(piece.strip()) >= SHORTEST]


EVIDENCE = list(evidence())


@pytest.mark.parametrize(("rule", "path", "line"), EVIDENCE)
def test_evidence_is_a_line_of_code(rule: Rule, path: Path, line: int) -> None:
    first = {node.lineno for node in ast.walk(ast.parse("\n".join(lines(path)))) if hasattr(node, "lineno")}
    assert line <= len(lines(path))
    assert line in first


@pytest.mark.parametrize(("rule", "path", "line"), EVIDENCE)
def test_evidence_is_near_the_check_that_raises_the_error(rule: Rule, path: Path, line: int) -> None:
    wanted = pieces(rule)
    raising = [check for check in checks(path) if any(piece.strip() in check.message for piece in wanted)]
    if raising:
        assert any(check.is_at(line) or abs(check.own[0] - line) <= NEAR for check in raising)


def test_the_wheel_is_at_hand() -> None:
    assert len(EVIDENCE) > 20
    assert any(
        any(piece.strip() in check.message for piece in pieces(rule) for check in checks(path))
        for rule, path, _ in (case.values for case in EVIDENCE)
    )
