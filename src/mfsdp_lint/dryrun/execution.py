"""`--execute`: recipe functions run as they are, for the settings that nobody can know without that."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.dryrun.containment import MEMORY, contained
from mfsdp_lint.dryrun.outcome import failure_from
from mfsdp_lint.dryrun.subject import given
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.sources import Problem
from mfsdp_lint.readers.python.read import NOT_KNOWN
from mfsdp_lint.rules.judging import NotAConfiguration, variant_of

_QUESTION = "execute.json"
_ANSWERS = "answers/execute.json"
_HUB = "~/.cache/huggingface"


@dataclass(frozen=True, slots=True)
class Executed:
    """A recipe, and what running its code has told of it.

    `was_run`: its settings are those that its function returned, and `learnt` are those of them that were not known
    before. Where that failed, `why` says so.
    """

    recipe: Recipe
    was_run: bool = False
    learnt: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """With what recipe functions are run.

    `search_path` is where else imports are found, `environment` what a launcher would set, `timeout` is for the imports
    and for the code of each file.
    """

    python: str
    transformer_engine: str
    search_path: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    keep: str | None = None
    memory: int = MEMORY


def not_read(addresses: Sequence[Address], problems: Sequence[Problem]) -> tuple[list[Recipe], list[Problem]]:
    """Return as recipes the functions whose settings are not known without a run, and the problems without theirs."""
    theirs = {(each.path, f"{each.function} {NOT_KNOWN}"): each for each in addresses if not each.positional}
    found = [theirs[key] for each in problems if (key := (each.path, each.message)) in theirs]
    recipes = [
        Recipe(
            each.function,
            each.function,
            each.path,
            1,
            "function",
            (Variant(WrittenSettings()),),
            arguments=dict(each.keywords),
        )
        for each in found
    ]
    return recipes, [each for each in problems if (each.path, each.message) not in theirs]


def can_be_executed(recipe: Recipe) -> bool:
    """Tell whether the recipe is a function of a Python file."""
    return recipe.kind == "function" and recipe.path.endswith(".py")


def execute(recipes: Sequence[Recipe], means: Execution, warn: Callable[[str], None]) -> list[Executed]:
    """Run the recipes that are functions of Python files; the others stay as they are.

    `warn` announces each before it is run. Raises UsageError where there is no room for a temporary directory.
    """
    by_file: dict[str, list[Recipe]] = {}
    for recipe in filter(can_be_executed, recipes):
        by_file.setdefault(recipe.path, []).append(recipe)
    done: dict[int, Executed] = {}
    for path, functions in by_file.items():
        names = ", ".join(recipe.label for recipe in functions)
        warn(f"--execute runs the code of {path}, in a process of its own: {names}")
        for recipe, answer in zip(functions, _answers(path, functions, means), strict=True):
            done[id(recipe)] = _executed(recipe, answer)
    return [done.get(id(recipe)) or Executed(recipe) for recipe in recipes]


def _answers(path: str, functions: Sequence[Recipe], means: Execution) -> list[Mapping[str, Any]]:
    question = {
        "path": os.path.abspath(path),
        "search_path": [os.path.abspath(each) for each in means.search_path],
        "transformer_engine": means.transformer_engine,
        # What was fetched from the hub before can be had; its own folder for code that it fetched is the launch's.
        "environment": {**means.environment, "HF_HOME": os.environ.get("HF_HOME", os.path.expanduser(_HUB))},
        "calls": [{"function": recipe.name, "arguments": dict(recipe.arguments)} for recipe in functions],
    }
    with contained(means.python, keep=means.keep, memory=means.memory) as launch:
        files.put(str(launch.directory / _QUESTION), json.dumps(question, indent=1).encode())
        both = (str(launch.directory / name) for name in (_QUESTION, _ANSWERS))
        process = launch.start(launch.command("execute", *both), output="execute.log")
        try:
            process.wait(2 * means.timeout)
            ended = f"its process ended with {process.returncode}, without an answer"
        except subprocess.TimeoutExpired:
            ended = f"it took more than {2 * means.timeout:g} s"
        return _read(launch.directory / _ANSWERS, ended, len(functions))


def _read(answers: Path, ended: str, count: int) -> list[Mapping[str, Any]]:
    try:
        found = json.loads(files.read(answers))
    except (OSError, ValueError):
        return [{"error": {"type": "Ended", "text": ended, "where": []}, "stage": "running it"}] * count
    if found["error"]:
        return [{"error": found["error"], "stage": "importing Megatron"}] * count
    calls: list[Mapping[str, Any]] = found["calls"]
    return calls


def _executed(recipe: Recipe, answer: Mapping[str, Any]) -> Executed:
    failure = failure_from(answer["error"])
    if failure is not None:
        where = f" ({failure.where[-1]})" if failure.where else ""
        return Executed(recipe, why=f"{answer['stage']} failed: {failure.message}{where}")
    # What is only known to be there is an object of which nothing is known.
    settings = {**dict.fromkeys(answer["set"], object()), **answer["known"]}
    try:
        variant = variant_of(settings, partial_environment=True)
    except NotAConfiguration as error:
        return Executed(recipe, why=str(error))
    before = dict.fromkeys(path for each in recipe.variants for path in given(each).unknown)
    learnt = tuple(path for path in before or answer["known"] if path in answer["known"])
    return Executed(replace(recipe, variants=(variant,), exposed=(), partial=False), was_run=True, learnt=learnt)
