"""The project's own rules: their examples are their tests, and every version they claim has evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.yaml import read_yaml
from mfsdp_lint.recipe import Recipe, Setting, Variant
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule
from mfsdp_lint.sources import Sources
from mfsdp_lint.upstream.knowledge import load_knowledge
from mfsdp_lint.upstream.target import resolve_target
from mfsdp_lint.values import Known

RULES = load_rules()
EVIDENCED = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")
"""The newest release of every line, and the development branch: what evidence is read from."""


def _examples() -> Iterator[Any]:
    for rule in RULES:
        for kind, wanted in (("bad", True), ("good", False)):
            chosen = [example for example in rule.examples if (example.severity is not None) is wanted]
            for number, example in enumerate(chosen, 1):
                yield pytest.param(rule, example, id=f"{rule.code}-{kind}-{number}")


EXAMPLES = list(_examples())
IN_YAML = [case for case in EXAMPLES if case.values[1].yaml]
IN_PYTHON = [case for case in EXAMPLES if case.values[1].python]


def severities(rule: Rule, example: Example, recipes: list[Recipe]) -> set[str]:
    """How bad the rule finds the recipes, among all rules."""
    found = check(recipes, resolve_target(example.target), RULES, theirs=lambda path: True)
    return {finding.severity for finding in found if finding.code == rule.code}


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_an_example_given_as_settings_is_judged_as_it_says(rule: Rule, example: Example) -> None:
    variant = Variant({path: Setting(path, Known(value)) for path, value in example.settings.items()})
    recipe = Recipe("example", "example", "example.py", 1, "function", (variant,))
    assert severities(rule, example, [recipe]) == ({example.severity} if example.severity else set())


@pytest.mark.parametrize(("rule", "example"), IN_YAML)
def test_an_example_given_as_yaml_is_judged_as_it_says(rule: Rule, example: Example) -> None:
    recipes = read_yaml("example.yaml", example.yaml)
    assert severities(rule, example, recipes) == ({example.severity} if example.severity else set())


@pytest.mark.parametrize(("rule", "example"), IN_PYTHON)
def test_an_example_given_as_python_is_judged_as_it_says(rule: Rule, example: Example, tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(example.python)
    read = read_python([str(path)], Sources(), load_knowledge(resolve_target(example.target)))
    assert severities(rule, example, read.recipes) == ({example.severity} if example.severity else set())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_shows_itself_in_python_and_in_yaml(rule: Rule) -> None:
    for wanted in (True, False):
        chosen = [example for example in rule.examples if (example.severity is not None) is wanted]
        assert any(example.python for example in chosen)
        assert any(example.yaml for example in chosen)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_evidence_for_every_version_that_it_claims(rule: Rule) -> None:
    claimed = [version for version in EVIDENCED if version in rule.versions and rule.at(version).cases]
    assert [version for version in claimed if rule.evidence.get(version)] == claimed
    assert set(rule.evidence) <= set(claimed)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_an_error_comes_with_the_text_that_upstream_raises(rule: Rule) -> None:
    for version in EVIDENCED:
        for case in rule.at(version).cases:
            assert (case.raises.at(version) is not None) == (case.enforced_by.at(version) != "nobody") or (
                case.severity == "info"
            )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_silent_about_a_recipe_of_which_nothing_is_known(rule: Rule) -> None:
    recipe = Recipe("example", "example", "example.yaml", 1, "overrides", (Variant({}),), partial=True)
    for version in EVIDENCED:
        assert check([recipe], resolve_target(version), [rule], theirs=lambda path: True) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_fix_removes_what_it_is_for(rule: Rule) -> None:
    for example in rule.examples:
        if rule.fix and example.severity:
            changed = {**example.settings, **rule.fix.set, **dict.fromkeys(rule.fix.unset)}
            variant = Variant({path: Setting(path, Known(value)) for path, value in changed.items()})
            assert severities(rule, example, [Recipe("r", "r", "r.py", 1, "function", (variant,))]) == set()
