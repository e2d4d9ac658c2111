"""The settings of the rules' examples exist in the releases that they are judged with."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.yaml.read import read_yaml
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.rules.sites import where_of
from tests.rules.test_rules import one_site
from tests.rules.upstream_fields import exists

OF_SETTINGS = [
    (rule, example, f"{rule.code}-{'bad' if example.severity else 'good'}-{number}")
    for rule in load_rules()
    for number, example in enumerate(rule.examples, 1)
    if rule.judges == "settings"
]
EXAMPLES = [pytest.param(rule, example, id=name) for rule, example, name in OF_SETTINGS]
IN_YAML = [pytest.param(rule, example, id=name) for rule, example, name in OF_SETTINGS if example.yaml]
IN_PYTHON = [pytest.param(rule, example, id=name) for rule, example, name in OF_SETTINGS if example.python]


def releases(rule: Rule, example: Example) -> list[str]:
    return [site.target.data for _, site in where_of(rule, example) if site.front_end == BRIDGE]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_a_class_that_an_example_names_is_one_of_each_release(rule: Rule, example: Example) -> None:
    for release in releases(rule, example):
        for path in example.settings:
            if path.endswith(".__class__"):
                assert exists(path, example.settings, release), (release, example.settings[path])


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_a_setting_of_an_example_is_one_of_some_release(rule: Rule, example: Example) -> None:
    # A release without it judges the example without it (sites.recipe_of).
    found = releases(rule, example)
    if len(found) < len(list(where_of(rule, example))):
        return  # Megatron-LM's command line, which has flags of its own, judges it as well
    for path in example.settings:
        assert any(exists(path, example.settings, release) for release in found), path


def written(recipes: list[Recipe]) -> dict[str, Plain]:
    """Return the settings that an example itself writes, with the classes of its sections."""
    found: dict[str, Plain] = {}
    for recipe in recipes:
        for variant in recipe.variants:
            for path in variant.settings.written():
                value = variant.value(path)
                found[path] = value.value if isinstance(value, Known) else None
    return found


@pytest.mark.parametrize(("rule", "example"), IN_YAML)
def test_what_an_example_writes_in_yaml_exists(rule: Rule, example: Example) -> None:
    if not releases(rule, example):
        return
    site = one_site(rule, example)
    settings = written(read_yaml("example.yaml", example.yaml, site.target))
    assert [path for path in settings if not exists(path, settings, site.target.data)] == []


@pytest.mark.parametrize(("rule", "example"), IN_PYTHON)
def test_what_an_example_writes_in_python_exists(rule: Rule, example: Example, tmp_path: Path) -> None:
    if not releases(rule, example):
        return
    site = one_site(rule, example)
    path = tmp_path / "example.py"
    path.write_text(example.python)
    read = read_python([str(path)], Sources(), load_knowledge(site.target))
    undeclared = [
        each.path for recipe in read.recipes for variant in recipe.variants for each in variant.settings.undeclared()
    ]
    assert undeclared == []
