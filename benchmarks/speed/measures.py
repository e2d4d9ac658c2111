"""Every figure with its goal: what is measured is data, one line a figure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from speed.editor import milliseconds_after_a_character
from speed.place import FORMATS, Place
from speed.within import configurations_a_second, milliseconds_a_recipe


@dataclass(frozen=True)
class Measure:
    """A figure: what it is of, the goal, its unit, and how it is measured. Less is better unless `more` is.

    Of a tree without folders of recipes there are only those that are `anywhere`.
    """

    name: str
    goal: float
    unit: str
    of: Callable[[Place], float]
    more: bool = False
    anywhere: bool = False

    def is_reached(self, figure: float) -> bool:
        """Tell whether a figure is as good as the goal."""
        return figure >= self.goal if self.more else figure <= self.goal


def measures() -> Iterator[Measure]:
    """Yield all measures, in the order of the report."""
    for name in FORMATS:
        yield Measure(f"recipes, cold, {name}", 5, "× ast.parse", _recipes_as(name))
    yield Measure("recipes, cold, audit", 5, "× ast.parse", _audit)
    yield Measure("repository, cold, concise", 1.5, "× ast.parse", _repository, anywhere=True)
    yield Measure("repository, cold, memory", 150, "MiB", _memory, anywhere=True)
    yield Measure("recipes, nothing changed", 150, "ms", lambda here: _ms(here.again(*_recipes(here)).wall))
    yield Measure("repository, nothing changed", 250, "ms", lambda here: _ms(here.again(".").wall), anywhere=True)
    yield Measure("recipes, one file changed", 250, "ms", _one_changed)
    yield Measure("repository, hook on three files", 200, "ms", _hook)
    yield Measure("a file in an editor, a digit typed", 100, "ms", milliseconds_after_a_character)
    yield Measure("--version", 40, "ms", lambda here: _ms(here.typical([*_tool(), "--version"]).wall))
    yield Measure("one clean file, cold", 120, "ms", _clean_file)
    for option in ("--fix", "--diff"):
        yield Measure(f"recipes, {option}", 2, "× the check", _fixing(option))
    for name in ("full", "json"):
        yield Measure(f"recipes, edits in {name}", 2, "× the check", _showing(name))
    yield Measure("all rules", 1, "ms a recipe", milliseconds_a_recipe)
    yield Measure("judge", 2000, "configurations/s", configurations_a_second, more=True)


def _tool() -> list[str]:
    from speed.place import TOOL

    return TOOL


def _ms(seconds: float) -> float:
    return seconds * 1000


def _recipes(here: Place) -> list[str]:
    return [os.path.relpath(folder, here.repository) for folder in here.recipes]


def _recipes_as(name: str) -> Callable[[Place], float]:
    def figure(here: Place) -> float:
        return here.recipes_as(name).processor / here.parsing_recipes

    return figure


def _repository(here: Place) -> float:
    return here.whole.processor / here.parsing_repository


def _memory(here: Place) -> float:
    return here.whole.memory


def _audit(here: Place) -> float:
    return here.audit().processor / here.parsing_recipes


def _one_changed(here: Place) -> float:
    changed = os.path.relpath(here.recipe_files[-1], here.repository)
    return _ms(here.after_a_change(_recipes(here), changed).wall)


def _hook(here: Place) -> float:
    """Measure a commit hook: the files of a commit are named, and one of them has just changed."""
    files = [os.path.relpath(path, here.repository) for path in here.recipe_files[-3:]]
    return _ms(here.after_a_change(files, files[0]).wall)


def _clean_file(here: Place) -> float:
    with here.clean_file() as folder:
        return _ms(here.lint("recipe.py", folder=folder).wall)


def _fixing(option: str) -> Callable[[Place], float]:
    def figure(here: Place) -> float:
        if option == "--diff":
            return here.lint(option, *_recipes(here)).processor / here.recipes_as("concise").processor
        with here.copied() as copy:  # which only the first run has to fix
            once = Place(copy, here.recipes, 1)
            return (
                once.lint(option, "--output-format", "concise", *_recipes(here)).processor
                / here.recipes_as("concise").processor
            )

    return figure


def _showing(name: str) -> Callable[[Place], float]:
    def figure(here: Place) -> float:
        return here.recipes_as(name).processor / here.recipes_as("concise").processor

    return figure
