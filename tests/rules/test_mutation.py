"""Every condition of a rule made true on a clean real recipe is found, and each of its clauses made false in turn is
silent: at the newest version that has the condition. (The examples are judged at every version.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.core.recipe import Recipe, Setting, Variant
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import Known, Plain, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.conditions.nodes import Junction, Node, Not
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Case, Rule
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.rules.sites import SITES, where, with_components
from tests.rules.solve import Assignment, pool_of, solutions

RULES = [rule for rule in load_rules() if rule.judges == "settings"]
MOST_TRIES = 60

CLEAN = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def pretrain_config():
    return llama3_8b_pretrain_config()
"""

# What start-up takes from these two would cover what is assigned here; rules about them assign them themselves.
QUIET = {"mixed_precision": None, "comm_overlap": None}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Variant:
    """A recipe of release 0.3.1, as it is."""
    path: Path = tmp_path_factory.mktemp("clean") / "recipe.py"
    path.write_text(CLEAN)
    (recipe,) = read_python([str(path)], Sources(), load_knowledge(SITES["0.3.1"].target)).recipes
    return recipe.variants[0]


class Changed(Layer):
    """The settings of a recipe with others on top."""

    def __init__(self, base: Variant, values: Assignment) -> None:
        super().__init__(base.settings)
        self.changed = {path: Setting(path, Known(value)) for path, value in values.items()}

    def value(self, path: str) -> Value:
        return self.changed[path].value if path in self.changed else self.below.value(path)

    def get(self, path: str) -> Setting | None:
        return self.changed.get(path) or self.below.get(path)

    def __iter__(self) -> Iterator[str]:
        yield from {**self.changed, **dict.fromkeys(self.below)}


def changed(clean: Variant, assignment: Assignment) -> Variant:
    sections = {path.partition(".")[0] for path in assignment}
    quiet = {path: value for path, value in QUIET.items() if path not in sections}
    return Variant(Changed(clean, {**quiet, **assignment}))


def found(rule: Rule, case: Case, site: Site, variant: Variant) -> bool:
    """Whether the rule, as if it had this case alone, reports a recipe of these settings."""
    alone = dataclasses.replace(rule, cases=(case,))
    recipe = Recipe("example", "example", "example.py", 1, "function", (variant,), front_end=site.front_end)
    return bool(check([recipe], site.target, [alone], is_linted=lambda path: True))


def cases() -> Iterator[tuple[Rule, str, Site, int]]:
    """Every case at every site; where it depends on a component, with what a bad example gives for that."""
    for rule in RULES:
        known = [{}, *(example.components for example in rule.examples if example.severity)]
        for name in where(rule):
            sites = [with_components(SITES[name], components) for components in known]
            for number, case in enumerate(rule.cases):
                here = [site for site in sites if rule.versions.truth(site) and case.versions.truth(site)]
                if here:
                    yield rule, name, here[0], number


def clauses(rule: Rule, site: Site, number: int) -> tuple[Node, ...]:
    """What has to hold, one by one."""
    conditions = [rule.applies.at(site), *([when.at(site)] if (when := rule.cases[number].when) else [])]
    return tuple(arm for condition in conditions for arm in _arms(condition.root))


def _arms(root: Node) -> tuple[Node, ...]:
    return root.arms if isinstance(root, Junction) and not root.decisive else (root,)


def conditions() -> Iterator[Any]:
    """The newest of the cases with the same condition."""
    alike: dict[Hashable, list[Any]] = {}
    for rule, name, site, number in cases():
        if rule.is_of_frameworks:
            continue  # their data files have the conditions
        case = pytest.param(rule, site, number, id=f"{rule.code}-{name}-case-{number + 1}")
        alike.setdefault((rule.code, number, site.front_end, repr(clauses(rule, site, number))), []).append(case)
    yield from (same[-1] for same in alike.values())


@pytest.mark.parametrize(("rule", "site", "number"), list(conditions()))
def test_a_condition_made_true_is_found_and_each_clause_made_false_is_silent(
    rule: Rule, site: Site, number: int, clean: Variant
) -> None:
    case, parts = rule.cases[number], clauses(rule, site, number)
    pool = pool_of(*parts)
    # Start-up may undo what is assigned, unless something that the rule need not name keeps it from doing so.
    aside = [{}, *(example.settings for example in rule.examples if example.severity)]
    contexts = [{path: value for path, value in settings.items() if path not in pool} for settings in aside]

    def mutant(wrong: int | None) -> Variant | None:
        """The clean recipe with all clauses true but one, as the case will see it."""
        wanted = [index != wrong for index in range(len(parts))]
        for context in contexts:
            for assignment in islice(_solved(parts, wanted, pool), MOST_TRIES):
                variant = changed(clean, {**context, **assignment})
                seen = SettingsViews(variant, site).of(case.sees)
                if [part.truth(seen) for part in parts] == wanted:
                    return variant
        return None

    broken = mutant(None)
    assert broken is not None, "nothing makes it true"
    assert found(rule, case, site, broken)
    falsified = [variant for index in range(len(parts)) if (variant := mutant(index))]
    assert falsified, "nothing makes it false"
    for variant in falsified:
        assert not found(rule, case, site, variant)


def _solved(
    parts: Sequence[Node], wanted: Sequence[bool], pool: Mapping[str, tuple[Plain, ...]]
) -> Iterator[Assignment]:
    """Assignments that make each clause what is wanted."""
    whole = [part if want else Not(part) for part, want in zip(parts, wanted, strict=True)]
    return solutions(Junction(tuple(whole), False), True, pool, {})


def test_the_recipe_is_clean(clean: Variant) -> None:
    site = SITES["0.3.1"]
    recipe = Recipe("clean", "clean", "clean.py", 1, "function", (changed(clean, {}),))
    shown = [rule for rule in RULES if rule.preset is None]
    assert check([recipe], site.target, shown, is_linted=lambda path: True) == []
