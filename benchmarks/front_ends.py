#!/usr/bin/env python3
"""Writes every known-bad combination of settings as each framework would, and asks whether the rule finds it there.

    python benchmarks/front_ends.py [--misses]

The combinations are the bad examples of the rules, judged at the newest version that each holds for. Exit status 1
where less than 98 % are found of those that the framework passes on and checks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import yaml

from mfsdp_lint.core.front_ends import FRONT_ENDS
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import (
    NotationKey,
    Profile,
    SettingsPlace,
    Unwritable,
    by_attribute,
    by_line,
    profiles,
)
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.yaml.read import read_yaml
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule
from mfsdp_lint.snapshots.knowledge import load_knowledge
from tests.rules.sites import where_of

ENOUGH = 0.98
OTHERWISE = ("not passed on", "made otherwise", "not validated", "spared")
"""No key for one of the settings; the framework itself sets another value; it does not run the check; code that it
replaces, or another version."""

BESIDE: Mapping[str, Mapping[str, Any]] = {
    "ms-swift": {"tuner_type": "full", "use_megatron_fsdp": False},
    "megatron-lm-yaml": {"language_model": {"num_layers": 2}, "model_parallel": {"tensor_model_parallel_size": 2}},
}
"""What a file of a framework has beside its settings, where its profile asks for it."""


def main() -> int:
    """Print a line for each framework; with --misses also the combinations that are not found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    rules = load_rules()
    every: Counter[str] = Counter()
    for profile in profiles():
        if any(place.calls for place in profile.places):
            continue  # its keys are arguments of recipes, of which each has others
        told: Counter[str] = Counter()
        for rule in rules:
            for number, example in enumerate(rule.examples):
                for place in profile.places if example.severity and rule.judges == "settings" else ():
                    outcome = tried(rule, example, profile, place)
                    told[outcome] += 1
                    if outcome == "missed" and arguments.misses:
                        print(f"  {profile.front_end}: {rule.code}[{number}] {dict(example.settings)}")
        every += told
        print(f"{profile.front_end.name:<14} {_line(told)}")
    print(f"{'all':<14} {_line(every)}")
    return 0 if every["found"] >= ENOUGH * (every["found"] + every["missed"]) else 1


def _line(told: Counter[str]) -> str:
    share = told["found"] / max(told["found"] + told["missed"], 1)
    return f"found {told['found']:4}, missed {told['missed']:3} ({share:.1%}); " + ", ".join(
        f"{name} {told[name]}" for name in OTHERWISE
    )


def tried(rule: Rule, example: Example, profile: Profile, place: SettingsPlace) -> str:
    """Classify one combination in one shape."""
    sites = [site for _, site in where_of(rule, example) if profile.front_end.is_a(site.front_end.name)]
    if profile.front_end.core:
        sites = [site for site in sites if site.version("core") == "0.12.3"]
    sites = [site for site in sites if rule.at(site.target, profile.front_end) is not None]
    if not sites:
        return "spared"
    target = sites[-1].target
    written = tree(example.settings, place, target)
    if not written:
        return "not passed on"
    recipes = _read(_around(written, profile, place), profile, target)
    if not recipes:
        return "missed"
    if _broken(rule, recipes[0], target):
        return "found"
    values = [(recipes[0].variants[0].value(path), value) for path, value in example.settings.items()]
    if any(found not in (Known(value), UNKNOWN) for found, value in values):
        return "made otherwise"
    if any(found == UNKNOWN for found, _ in values):
        return "not passed on"
    plain = _broken(rule, replace(recipes[0], front_end=FRONT_ENDS[profile.front_end.runs]), target)
    unchecked = bool(plain) and not profile.front_end.checks(rule.code, plain[0].case.enforcer)
    return "not validated" if unchecked else "missed"


def _read(written: dict[str, Any], profile: Profile, target: Target) -> list[Recipe]:
    """Read settings from a file of the framework."""
    if profile.front_end.name == "nemo":
        sources, knowledge = Sources({"run.py": nemo_recipe(written)}), load_knowledge(target)
        return read_python(["run.py"], sources, knowledge).recipes
    return read_yaml("run.yaml", yaml.safe_dump(written, sort_keys=False), target)


def _broken(rule: Rule, recipe: Recipe, target: Target) -> list[Violation]:
    return violations([recipe], target, [rule], lambda path: True)


def tree(settings: Mapping[str, Plain], place: SettingsPlace, target: Target) -> dict[str, Any]:
    """Arrange the settings below a place, without those that have no key there."""
    below: dict[str, Any] = {}
    for path, value in settings.items():
        try:
            words, word = next(_written(path, value, place, target))
        except (StopIteration, Unwritable):
            continue
        branch = below
        for name in words[:-1]:
            branch = branch.setdefault(name, {})
        branch[words[-1]] = word
    return below


def _written(path: str, value: Plain, place: SettingsPlace, target: Target) -> Iterator[tuple[tuple[str, ...], Plain]]:
    if place.named == "flags":
        yield from _as_flags(path, value, target)
    keys: list[NotationKey] = list(by_attribute(path)) if place.named == "attributes" else []
    known = table().attributes(target.core)
    for key in list(by_line(place)(path)) + [key for key in keys if key.words[0] in known]:
        yield key.words, key.word(value)


def _as_flags(path: str, value: Plain, target: Target) -> Iterator[tuple[tuple[str, ...], Plain]]:
    entry = table().entry(path)
    for flag in table().setting_flags(entry, target.core) if entry else ():
        meant = not value if entry and entry.inverted and isinstance(value, bool) else value
        if flag.is_switch and flag.read([]) is not None:
            if flag.read([]).value == meant:  # type: ignore[union-attr]
                yield (flag.names[0].lstrip("-").replace("-", "_"),), True
        elif meant is not None:
            yield (flag.names[0].lstrip("-").replace("-", "_"),), meant


def _around(written: dict[str, Any], profile: Profile, place: SettingsPlace) -> dict[str, Any]:
    beside = BESIDE.get(profile.front_end.name, {})
    for key, wanted in place.where:
        branch = written
        for name in key[:-1]:
            branch = branch.setdefault(name, {})
        if key[0] not in beside:
            branch.setdefault(key[-1], wanted[0])
    whole: dict[str, Any] = written
    for name in reversed(place.at):
        whole = {
            name.replace("*trainer*", "pre_trainer").replace("*", _NAMES.get(profile.front_end.name, "actor")): whole
        }
    return {**beside, **{name: _with(beside.get(name), each) for name, each in whole.items()}}


def _with(beside: Any, written: Any) -> Any:
    return {**beside, **written} if isinstance(beside, dict) and isinstance(written, dict) else written


_TASKS = {
    "trainer": "nl.Trainer",
    "strategy": "nl.MegatronStrategy",
    "ddp": "DistributedDataParallelConfig",
    "model": "llm.GPTModel",
    "optim": "nl.MegatronOptimizerModule",
}
"""What a recipe of NeMo makes at a key."""


def nemo_recipe(written: Mapping[str, Any]) -> str:
    """Write a recipe of NeMo in Python that has these settings."""
    whole = {"trainer": {}, **written}
    whole["trainer"] = {"strategy": {}, **whole["trainer"]}
    return (
        "import nemo_run as run\nimport torch\nfrom nemo import lightning as nl\nfrom nemo.collections import llm\n"
        "from megatron.core.distributed import DistributedDataParallelConfig\n"
        "from megatron.core.optimizer import OptimizerConfig\n\n\n"
        f"def recipe():\n    return run.Partial(llm.pretrain, {_keywords(whole, '')})\n"
    )


def _keywords(written: Mapping[str, Any], above: str) -> str:
    return ", ".join(f"{name}={_task(name, value, above)}" for name, value in written.items())


def _task(name: str, value: Any, above: str) -> str:
    if name in ("plugins", "callbacks"):
        return f"[{', '.join(f'run.Config(nl.{cls}, {_keywords(each, name)})' for cls, each in value.items())}]"
    if not isinstance(value, dict):
        return value if isinstance(value, str) and value.startswith("torch.") else repr(value)
    made = _TASKS.get(name) or ("OptimizerConfig" if above == "optim" else "llm.GPTConfig")
    return f"run.Config({made}, {_keywords(value, name)})"


_NAMES = {"primus": "pre_trainer", "nemo-rl": "policy"}

if __name__ == "__main__":
    raise SystemExit(main())
