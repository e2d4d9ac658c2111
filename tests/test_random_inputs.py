"""No check depends on chance: random inputs have fixed seeds (benchmarks/random_tests.py draws others)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hypothesis import settings

TESTS = Path(__file__).parent
IDIOMS = TESTS / "idioms"


def test_property_tests_draw_the_same_inputs_in_every_run() -> None:
    profile = settings.get_profile("fixed")
    assert profile.derandomize
    assert profile.database is None


def test_no_test_chooses_its_own_chance() -> None:
    profiles = TESTS / "conftest.py"
    files = [each for each in TESTS.rglob("*.py") if each != profiles and not is_users(each)]
    assert len(files) > 100
    found = [f"{path}:{line}" for path in files for line in unseeded(path.read_text(encoding="utf-8"))]
    assert found == []


def is_users(path: Path) -> bool:
    """Tell whether a file is one of the users' files below idioms/, which are read and never run."""
    return IDIOMS in path.parents and path.parent != IDIOMS


def unseeded(text: str) -> Iterator[int]:
    """Give the lines that draw without a seed, or that overrule the profile."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="random"), attr="Random"), args=[_, *_]):
                pass
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id="random")))
                | ast.Call(func=ast.Name(id="Random"), args=[])
            ):
                yield node.lineno
            case ast.keyword(arg="derandomize" | "database"):
                yield node.lineno


def test_what_is_looked_for_is_found() -> None:
    assert list(unseeded("random.choice([1])")) == [1]
    assert list(unseeded("x = Random()")) == [1]
    assert list(unseeded("random.Random()")) == [1]
    assert list(unseeded("random.Random(7).choice([1])")) == []
    assert list(unseeded("@settings(derandomize=False)\ndef f(): ...")) == [1]
