"""The data of the audit's page: the outcome of a run, and all recipes for every target and at a revision."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mfsdp_lint import terminal
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine import cache
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.engine.earlier import asked_of_child, at_revision
from mfsdp_lint.engine.read import Question, of_part, question, read, with_launchers, with_targets
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.projects import shown
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.memory.estimate import MemoryOf
from mfsdp_lint.process import without_collection
from mfsdp_lint.reports.audit.page import Side, side_document
from mfsdp_lint.reports.text import lines_of

IsWanted = Callable[[str, str], bool]
"""Tells from its name and its qualified name whether a recipe is shown."""


@dataclass(frozen=True, slots=True)
class Audited:
    """`sides` are documents: of the target, the others of a range, and the revision."""

    outcome: Outcome
    sides: Sequence[dict[str, Any]]


MemoryFor = Callable[[Target], MemoryOf]
"""Estimates the memory of recipes with the versions of a target."""


def audited(options: Options, is_wanted: IsWanted, memory: MemoryFor | None = None) -> Audited:
    """Judge the project, prove the fixes as for a report that shows them, and collect the settings of the recipes.

    With `options.since`, also collect their settings at that revision, without their memory. Raises UsageError.
    """
    outcome, asked = judged(replace(options, paths=tuple(map(_here, options.paths))))
    found = recipes_by_target(outcome, asked)
    with without_collection():
        sides = [
            side_document(side(target, recipes, outcome, asked, memory and memory(target), is_wanted))
            for target, recipes in found.items()
        ]
    if options.since is not None:
        sides.append(_earlier(options.since, options, asked.targets, is_wanted))
    return Audited(outcome, sides)


def _here(path: str) -> str:
    """Shorten a path or an address that is absolute, so that the page has none of this machine."""
    file, mark, function = path.partition("::")
    return f"{shown(file)}{mark}{function}" if os.path.isabs(file) else path


def main() -> None:
    """Run the process that judges an earlier revision: options in, its side out."""
    options, _ = asked_of_child()
    outcome, asked = judged(replace(options, cache=False), proofs=False)
    mine = side(asked.target, recipes_by_target(outcome, asked)[asked.target], outcome, asked)
    terminal.document([json.dumps(side_document(mine))])


def judged(options: Options, *, proofs: bool = True) -> tuple[Outcome, Question]:
    """Return the outcome of a run, perhaps cached from an earlier one, and the question that it read."""
    outcome = cache.run(replace(options, group_by="recipe", show_fixes=proofs, since=None, dependents=False))
    return outcome, with_targets(with_launchers(question(options)[0]), options)


def recipes_by_target(outcome: Outcome, asked: Question) -> Mapping[Target, tuple[Recipe, ...]]:
    """Return the recipes for every target; read them now where the outcome is cached from an earlier run."""
    if outcome.read is not None:
        return outcome.read
    sources = Sources(asked.texts)
    return {
        target: of_part(asked, part, read(replace(part, target=target, also=()), sources)).recipes
        for part in asked.parts(sources)
        for target in part.targets
    }


def side(
    target: Target,
    recipes: Sequence[Recipe],
    outcome: Outcome,
    asked: Question,
    memory: MemoryOf | None = None,
    is_wanted: IsWanted = lambda name, qualified: True,
) -> Side:
    launchers = {file.path for file in asked.launchers}
    at_hand = {file.path for file in (*asked.every_file, *asked.beside)}
    wanted = [each for each in recipes if each.path not in launchers and is_wanted(each.name, each.qualified_name)]
    wanted.sort(key=lambda recipe: (recipe.path, recipe.line, recipe.label))
    return Side(target.name, target, wanted, outcome.recipes, lines_of(outcome.shown), at_hand.__contains__, memory)


def _earlier(text: str, options: Options, targets: Sequence[Target], is_wanted: IsWanted) -> dict[str, Any]:
    said = at_revision(text, options, targets, __name__)
    # Paths that were given as absolute ones are in the tree that the process saw.
    there, here = (json.dumps(folder)[1:-1].encode() for folder in (said.tree, said.root))
    document: dict[str, Any] = json.loads(said.answer.replace(there, here))
    recipes = [each for each in document["recipes"] if is_wanted(each["name"].partition("(")[0], each["qualified"])]
    return {**document, "title": text, "recipes": recipes}
