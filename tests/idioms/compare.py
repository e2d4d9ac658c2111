"""What the linter says of an idiom in a version, beside the truth."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, Value, describe, same, spell
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.rules.load import load_rules
from tests.folders import working_in
from tests.idioms.suite import Decision, Idiom, Mark, truth

_SPECIAL = ("<set>", "<unknown>")

_OF_THE_HUB = frozenset(
    {
        "model.bf16",
        "model.fp16",
        "model.num_moe_experts",
        "model.share_embeddings_and_output_weights",
    }
)
"""Settings that upstream's recipes take from the model's config.json on the Hugging Face hub: where nobody decides them
in the files, they are rightly undecided."""


@dataclass(slots=True)
class Outcome:
    """How one idiom fares in one version. The `misses` say what went wrong, a line each, and never where in a text."""

    idiom: str
    version: str
    recipes: int = 0
    found: int = 0
    settings: int = 0
    decided: int = 0
    headlines: int = 0
    reported: int = 0
    marked: int = 0
    placed: int = 0
    wrong: int = 0
    false_alarms: int = 0
    misses: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Said:
    """What the linter says."""

    recipes: tuple[Recipe, ...]
    findings: tuple[Finding, ...]
    crash: str = ""


def compared(idiom: Idiom, version: str) -> Outcome:
    """The linter's reading and findings beside the truth."""
    record = known_truth(version)[idiom.name]
    outcome = Outcome(idiom.name, version)
    said = linted(idiom, version)
    if said.crash:
        outcome.misses.append(f"crash: {said.crash}")
    marks = (*idiom.recipes, *idiom.launches)
    truths = {mark.key: [run["settings"] for run in record["marks"].get(mark.key, ())] for mark in marks}
    for path in sorted({mark.path for mark in marks}):
        _compare_recipes(outcome, idiom, [m for m in marks if m.path == path and truths[m.key]], truths, said.recipes)
    _compare_findings(outcome, idiom, version, record, said.findings)
    outcome.misses = list(dict.fromkeys(outcome.misses))
    return outcome


@cache
def known_truth(version: str) -> Mapping[str, Any]:
    """The truth of a version, read once."""
    return truth(version)


def linted(idiom: Idiom, version: str) -> Said:
    """What the linter says of the idiom's files where nothing else is."""
    with tempfile.TemporaryDirectory() as name, working_in(Path(name)):
        idiom.lay_out(Path(name))
        rules = tuple(rule for rule in load_rules() if rule.preset is None)
        try:
            asked, _ = question(Options(paths=(".",), target_bridge=version))
            judgement = Linter(asked, rules, rules)(Sources({}))
        except Exception as error:  # a crash is a miss like any other
            return Said((), (), f"{type(error).__name__}: {error}")
        return Said(judgement.recipes, (*(cause.finding for cause in judgement.causes), *judgement.raising))


def _compare_recipes(
    outcome: Outcome,
    idiom: Idiom,
    marks: Sequence[Mark],
    truths: Mapping[str, Sequence[Mapping[str, Plain]]],
    recipes: Sequence[Recipe],
) -> None:
    """Recipes of one file: each mark has the candidate that fits best, and no two marks the same.

    A candidate that fits no mark says something wrong, unless it is a helper that nobody marked.
    """
    fitting = sorted(
        (_fewest_wrong(recipe, truths[mark.key]), number, mark.key)
        for number, recipe in enumerate(recipes)
        for mark in marks
        if _stands_for(recipe, mark, idiom)
    )
    taken: dict[str, int] = {}
    for _, number, key in fitting:
        if key not in taken and number not in taken.values():
            taken[key] = number
    for mark in marks:
        outcome.recipes += 1
        candidates = [recipes[number] for _, number, key in fitting if key == mark.key]
        runs = truths[mark.key]
        untold = [run for run in runs if all(_wrong(recipe, [run]) for recipe in candidates)]
        if mark.key not in taken:
            outcome.misses.append(f"not found: {mark.key} {mark.name}".rstrip())
            continue
        if untold and len(untold) < len(runs):
            outcome.misses.append(f"not found: {mark.key} {mark.name} ({len(untold)} of {len(runs)} runs)")
        else:
            outcome.found += 1
        _count_settings(outcome, idiom, recipes[taken[mark.key]], runs)
    for number in dict.fromkeys(number for _, number, _ in fitting):
        stories = [
            _wrong(recipes[number], [run]) for _, other, key in fitting if other == number for run in truths[key]
        ]
        for path, story in min(stories, key=len).items():
            outcome.wrong += 1
            outcome.misses.append(f"wrong: {recipes[number].name}: {path} {story}")


def _fewest_wrong(recipe: Recipe, runs: Iterable[Mapping[str, Plain]]) -> int:
    return min(len(_wrong(recipe, [run])) for run in runs)


def _stands_for(recipe: Recipe, mark: Mark, idiom: Idiom) -> bool:
    """Whether a recipe of the linter's may be the one that is marked."""
    if recipe.partial or os.path.normpath(recipe.path) not in (mark.path, idiom.script):
        return False
    name = recipe.name.rpartition(".")[2]
    if mark.key.startswith("launch"):
        return recipe.kind in ("script", "module") or name == mark.name or mark.line <= recipe.line <= mark.end_line
    return name == mark.name or mark.line <= recipe.line <= mark.end_line


def _wrong(recipe: Recipe, runs: Iterable[Mapping[str, Plain]]) -> dict[str, str]:
    """The settings whose real value is none of those that the linter says they can have."""
    found = {}
    for path in SETTINGS:
        value = recipe.setting(path).value
        for settings in runs:
            if path in settings and not _admits(value, settings[path]):
                found[path] = f"is {spell(settings[path])}, and said to be {describe(value)}"
    return found


def _admits(value: Value, real: Plain) -> bool:
    match value:
        case _ if real in _SPECIAL:
            return True
        case Known(said):
            return same(said, real)
        case OneOf(options):
            return any(same(option, real) for option in options)
        case NotNone():
            return real is not None
        case _:
            return True


def _count_settings(outcome: Outcome, idiom: Idiom, recipe: Recipe, runs: Sequence[Mapping[str, Plain]]) -> None:
    """How many settings are decided, where nothing outside the files decides them."""
    if idiom.outside:
        return
    open_ones = []
    for path in SETTINGS:
        real = [settings[path] for settings in runs if path in settings]
        if not real or path in idiom.depends or any(value in _SPECIAL for value in real):
            continue
        decided = isinstance(recipe.setting(path).value, Known) or any(not same(value, real[0]) for value in real)
        if not decided and path in _OF_THE_HUB:
            continue
        outcome.settings += 1
        outcome.decided += decided
        if not decided:
            open_ones.append(path)
    if open_ones:
        told = ", ".join(open_ones[:4]) + (", …" if len(open_ones) > 4 else "")
        outcome.misses.append(f"undecided: {recipe.name}: {len(open_ones)} settings ({told})")


def _compare_findings(
    outcome: Outcome, idiom: Idiom, version: str, record: Mapping[str, Any], findings: Sequence[Finding]
) -> None:
    runs = [run for marked in record["marks"].values() for run in marked]
    deserved = {code for run in runs for code in run["codes"]}
    errors = {code for run in runs for code, severity in run["codes"].items() if severity == "error"}
    if idiom.outside:  # what happens out of sight can deserve more than anybody can see
        errors = set()
    decisions = [each for each in idiom.decisions if each.holds(version)]
    raised = (record["raised"] or "").partition(":")[0]
    expected = errors | {each.code for each in decisions}
    for code in sorted(expected):
        outcome.headlines += 1
        places = [each for each in decisions if each.code == code]
        told = [each for each in findings if each.code == code or (code == raised and each.severity == "error")]
        if code == raised:
            told = [each for each in told if any(_at(each, place) for place in places)]
        outcome.reported += bool(told)
        if not told:
            outcome.misses.append(f"not reported: {code}")
            continue
        if not places:
            continue
        outcome.marked += 1
        placed = any(_at(finding, place) for finding in told for place in places)
        outcome.placed += placed
        if not placed:
            outcome.misses.append(f"elsewhere: {code}")
    for finding in findings:
        known = finding.code in deserved | expected or any(
            each.code == raised and _at(finding, each) for each in decisions
        )
        if finding.severity == "error" and not known:
            outcome.false_alarms += 1
            outcome.misses.append(f"false alarm: {finding.code}")


def _at(finding: Finding, place: Decision) -> bool:
    span = finding.span
    return os.path.normpath(span.path) == place.path and span.line <= place.line <= max(span.line, span.end_line)
