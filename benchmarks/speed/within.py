"""Figures of what happens within one process: nothing is started, and nothing is read, while the clock runs."""

from __future__ import annotations

import time

from speed.place import Place


def milliseconds_a_recipe(here: Place) -> float:
    """Measure judging a recipe by all rules, once it has been read; in a process of the tool's own."""
    from mfsdp_lint import process
    from mfsdp_lint.engine.judge import Linter
    from mfsdp_lint.engine.read import question, read
    from mfsdp_lint.inputs.options import Options
    from mfsdp_lint.inputs.sources import Sources
    from mfsdp_lint.rules.check import hits, violations_of
    from mfsdp_lint.rules.findings import causes
    from mfsdp_lint.rules.load import load_rules

    process.own()
    asked, _ = question(Options(paths=tuple(map(str, here.recipes))))
    sources, rules = Sources(), load_rules()
    is_told_of = Linter(asked, rules, rules).is_told_of
    recipes = read(asked, sources).recipes
    begun = time.process_time()
    causes(violations_of(hits(recipes, asked.target, rules, is_told_of, sources=sources)))
    return (time.process_time() - begun) * 1000 / len(recipes)


def configurations_a_second(here: Place) -> float:
    """Count the configurations held by a program that are judged in a second: every recipe's, as plain data."""
    from mfsdp_lint import judge
    from mfsdp_lint.core.values import Known
    from mfsdp_lint.engine.read import question, read
    from mfsdp_lint.inputs.options import Options
    from mfsdp_lint.inputs.sources import Sources

    asked, _ = question(Options(paths=tuple(map(str, here.recipes))))
    configurations = []
    for recipe in read(asked, Sources()).recipes:
        variant = recipe.variants[0]
        values = ((path, variant.value(path)) for path in recipe.paths())
        configurations.append({path: value.value for path, value in values if isinstance(value, Known)})
    judge(configurations[0], target=asked.target)
    begun = time.process_time()
    for each in configurations:
        judge(each, target=asked.target)
    return len(configurations) / (time.process_time() - begun)
