"""The project's own rules: their examples are their tests, what these set exists in the releases that they are judged
with, and every version that a rule claims has evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.checkpoints.facts import FOLDER
from mfsdp_lint.core.front_ends import BRIDGE, FRONT_ENDS, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.shell.read import read_shell
from mfsdp_lint.readers.yaml.read import read_yaml
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.index import STATE
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule, stronger
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.rules.sites import DEFAULT, SITES, recipe_of, where, where_of
from tests.rules.upstream_fields import exists

RULES = load_rules()
OF_SETTINGS = [rule for rule in RULES if rule.judges == "settings"]


def _examples() -> Iterator[Any]:
    for rule in RULES:
        for kind, wanted in (("bad", True), ("good", False)):
            chosen = [example for example in rule.examples if (example.severity is not None) is wanted]
            for number, example in enumerate(chosen, 1):
                yield pytest.param(rule, example, id=f"{rule.code}-{kind}-{number}")


EXAMPLES = list(_examples())
AS_SETTINGS = [case for case in EXAMPLES if case.values[1].settings]
IN_YAML = [case for case in EXAMPLES if case.values[1].yaml]
IN_PYTHON = [case for case in EXAMPLES if case.values[1].python]
IN_SHELL = [case for case in EXAMPLES if case.values[1].shell]
IN_FLAGS = [case for case in EXAMPLES if case.values[1].megatron_lm]


@cache
def beside(code: str) -> tuple[Rule, ...]:
    """Return a rule and all rules that may make its finding superfluous: for one about writes, those are many."""
    above = stronger(RULES)[code]
    judges = next(rule.judges for rule in RULES if rule.code == code)
    return tuple(rule for rule in RULES if rule.code in {code, *above} or judges != "settings")


def severities(rule: Rule, site: Site, recipes: list[Recipe], sources: Sources | None = None) -> set[str]:
    """How bad the rule finds the recipes, among all rules."""
    found = check(recipes, site.target, beside(rule.code), is_linted=lambda path: True, sources=sources)
    return {finding.severity for finding in found if finding.code == rule.code}


def expected(example: Example) -> set[str]:
    return {example.severity} if example.severity else set()


def one_site(rule: Rule, example: Example, front_end: FrontEnd = BRIDGE) -> Site:
    """Where an example that has to be read is judged: the default target if that is one of its own, else the newest."""
    found = {name: site for name, site in where_of(rule, example) if site.front_end == front_end}
    return found[DEFAULT] if DEFAULT in found else found[list(found)[-1]]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_example_is_of_a_version_that_the_rule_has(rule: Rule) -> None:
    assert [example for example in rule.examples if not list(where_of(rule, example))] == []


@pytest.mark.parametrize("rule", OF_SETTINGS, ids=lambda rule: rule.code)
def test_every_setting_of_an_example_exists_in_a_release_and_its_classes_in_each(rule: Rule) -> None:
    for example in rule.examples:
        sites = [site for _, site in where_of(rule, example)]
        releases = [site.target.data for site in sites if site.front_end == BRIDGE]
        for path in example.settings:
            known = [exists(path, example.settings, release) for release in releases]
            if path.endswith(".__class__"):
                assert all(known), (path, example.settings[path])
            # A release without it judges the example without it; Megatron-LM's command line has flags of its own.
            assert any(known) or len(releases) < len(sites), path


@pytest.mark.parametrize(("rule", "example"), AS_SETTINGS)
def test_an_example_given_as_settings_is_judged_as_it_says_in_every_version(rule: Rule, example: Example) -> None:
    for name, site in where_of(rule, example):
        found = severities(rule, site, [recipe_of(example.settings, site)])
        assert (name, found) == (name, expected(example))


@pytest.mark.parametrize(("rule", "example"), IN_YAML)
def test_an_example_given_as_yaml_is_judged_as_it_says_and_what_it_writes_exists(rule: Rule, example: Example) -> None:
    site = one_site(rule, example)
    recipes = read_yaml("example.yaml", example.yaml, site.target)
    assert severities(rule, site, recipes, Sources({"example.yaml": example.yaml})) == expected(example)
    settings = written(recipes)
    if rule.judges == "settings":
        assert [path for path in settings if not exists(path, settings, site.target.data)] == []


def written(recipes: list[Recipe]) -> dict[str, Plain]:
    """Return the settings that an example itself writes, with the classes of its sections."""
    values = {path: each.value(path) for each in variants(recipes) for path in each.settings.written()}
    return {path: value.value if isinstance(value, Known) else None for path, value in values.items()}


def variants(recipes: list[Recipe]) -> list[Variant]:
    return [variant for recipe in recipes for variant in recipe.variants]


@pytest.mark.parametrize(("rule", "example"), IN_PYTHON)
def test_an_example_given_as_python_is_judged_as_it_says_and_what_it_writes_exists(
    rule: Rule, example: Example, tmp_path: Path
) -> None:
    path = tmp_path / "example.py"
    path.write_text(example.python)
    of_bridge = any(site.front_end == BRIDGE for _, site in where_of(rule, example))
    site = one_site(rule, example, BRIDGE if of_bridge else MEGATRON_LM)
    read = read_python([str(path)], Sources(), load_knowledge(site.target))
    assert severities(rule, site, read.recipes, Sources()) == expected(example)
    if rule.judges == "settings":
        assert [each.path for variant in variants(read.recipes) for each in variant.settings.undeclared()] == []


@pytest.mark.parametrize(("rule", "example"), IN_FLAGS)
def test_an_example_given_as_flags_is_judged_as_it_says(rule: Rule, example: Example) -> None:
    site = one_site(rule, example, MEGATRON_LM)
    recipes = read_yaml("model_config.yaml", example.megatron_lm, site.target)
    assert recipes[0].front_end == MEGATRON_LM
    assert severities(rule, site, recipes, Sources({"model_config.yaml": example.megatron_lm})) == expected(example)


@pytest.mark.parametrize(("rule", "example"), IN_SHELL)
def test_an_example_given_as_a_script_is_judged_as_it_says(rule: Rule, example: Example) -> None:
    of_bridge = all(site.front_end == BRIDGE for _, site in where_of(rule, example))
    site = one_site(rule, example, BRIDGE if of_bridge else MEGATRON_LM)
    sources = Sources({"train.sh": example.shell})
    recipes = read_shell("train.sh", example.shell, site.target, sources).recipes
    assert recipes
    assert severities(rule, site, recipes, sources) == expected(example)


def _is_about_scripts(rule: Rule) -> bool:
    return rule.judges == "text" and (rule.files == ("shell",) or rule.notices is not None)


@pytest.mark.parametrize("rule", [rule for rule in RULES if _is_about_scripts(rule)], ids=lambda rule: rule.code)
def test_a_rule_about_scripts_shows_itself_in_scripts(rule: Rule) -> None:
    assert {bool(example.severity) for example in rule.examples if example.shell} == {True, False}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_shows_itself_in_python_and_in_yaml(rule: Rule) -> None:
    if _is_about_scripts(rule):
        return
    if not any(SITES[name].front_end == BRIDGE for name in where(rule)):
        assert all(any(e.severity for e in rule.examples if bool(e.severity) is wanted) for wanted in (True,))
        return
    if {WORLD_SIZE, FOLDER, STATE} & rule.applies.at(SITES[where(rule)[0]]).paths():
        return  # a launch says how many ranks there are, the disk what is saved there, the whole model its size
    for wanted in (True, False):
        chosen = [example for example in rule.examples if (example.severity is not None) is wanted]
        if rule.is_of_frameworks or rule.written == "overruled":  # whose files are YAML, or by Megatron-LM
            assert any(example.yaml or example.python for example in chosen)
            continue
        assert any(example.python for example in chosen)
        assert any(example.yaml for example in chosen) or rule.judges == "writes"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_evidence_for_every_version_that_it_claims(rule: Rule) -> None:
    if (rule.judges == "text" or rule.is_of_frameworks) and not rule.evidence:
        # What a shell does is the same whatever it starts: tests/readers and benchmarks ask a real one. The lines of
        # frameworks on top are in their profiles, and so are the texts that they raise.
        assert all(who in ("nobody", "framework") for case in rule.cases for _, who in case.enforced_by.entries)
        return
    assert sorted(version for version, places in rule.evidence.items() if places) == sorted(where(rule))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_an_error_comes_with_the_text_that_upstream_raises(rule: Rule) -> None:
    for name in where(rule):
        for case in rule.cases:
            site = SITES[name]
            if case.versions.truth(site) is not False:
                here = case.at(site)
                raises = here.enforcer not in ("nobody", "framework")
                assert ((name, here.error is not None) == (name, raises)) or here.severity == "info"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_an_error_has_a_dry_run_that_confirms_it_or_a_reason_why_there_is_none(rule: Rule) -> None:
    confirmed = any(case.confirm != "none" for case in rule.cases)
    if any(case.severity == "error" for case in rule.cases):
        assert confirmed or rule.unconfirmed
    assert not (rule.confirm != "none" and rule.unconfirmed)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_silent_about_a_recipe_of_which_nothing_is_known(rule: Rule) -> None:
    for site in SITES.values():
        assert check([recipe_of({}, site)], site.target, [rule], is_linted=lambda path: True) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_about_components_is_silent_where_they_are_not_known(rule: Rule) -> None:
    for example in rule.examples:
        if example.components and example.severity:
            for name, _ in where_of(rule, example):
                site = SITES[name]
                found = severities(rule, site, [recipe_of(example.settings, site)])
                assert found <= {case.severity for case in rule.cases if not _of_components(case.versions.subjects())}


def _of_components(subjects: Iterator[str]) -> bool:
    return any(subject not in FRONT_ENDS for subject in subjects)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_fix_removes_what_it_is_for(rule: Rule) -> None:
    for example in rule.examples:
        if example.severity and example.settings and rule.judges == "settings":
            for name, site in where_of(rule, example):
                here = rule.at(site.target, site.front_end)
                fix = here and here.fix_for(recipe_of(example.settings, site).variants[0])
                assert fix, "neither a safe fix, nor an unsafe one, nor why there is none"
                if fix.none:
                    continue
                changed = {**example.settings, **fix.set, **dict.fromkeys(fix.unset)}
                assert (name, severities(rule, site, [recipe_of(changed, site)])) == (name, set())
