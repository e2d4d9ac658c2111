"""From Python files to recipes."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mfsdp_lint.readers.python import entries
from mfsdp_lint.readers.python.machine import Machine
from mfsdp_lint.readers.python.modules import Module, ModuleFinder, parse
from mfsdp_lint.readers.python.objects import Function
from mfsdp_lint.readers.python.settings import Spans
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.sources import Sources, Unreadable

RELEVANT = re.compile(
    r"megatron|fsdp|ConfigContainer|cpu_offload|ckpt_format|CUDA_DEVICE_MAX|_config\b|pretrain|finetune|recipe",
    re.IGNORECASE,
)
"""A file without any of these words says nothing about a training run."""

PYTHON_STACK = 20_000


@dataclass(frozen=True, slots=True)
class PythonRead:
    """What was read: the recipes in the order of the files, and the files that could not be read."""

    recipes: list[Recipe]
    unreadable: list[Unreadable]


def read_python(
    paths: Sequence[str], sources: Sources, knowledge: Any = None, search_path: Sequence[str] = ()
) -> PythonRead:
    """The recipes of Python files.

    `knowledge` is what is known of upstream packages whose source is not at hand; `search_path` are folders with such
    source. A file that cannot be read or parsed is listed and does not stop the others.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), PYTHON_STACK))
    finder = ModuleFinder(sources, search_path)
    finder.spell(paths)
    machine = Machine(finder, knowledge)
    modules, unreadable = _load(finder, paths)
    return PythonRead(_recipes(machine, modules), unreadable)


def _load(finder: ModuleFinder, paths: Sequence[str]) -> tuple[list[Module], list[Unreadable]]:
    modules, unreadable = [], []
    for path in paths:
        try:
            text = finder.sources.text(path)
            if not RELEVANT.search(text):
                parse(path, text)
                continue
            module = finder.load(path)
            if module is None:
                parse(path, text)
            else:
                modules.append(module)
        except Unreadable as error:
            unreadable.append(error)
    return modules, unreadable


def _recipes(machine: Machine, modules: Sequence[Module]) -> list[Recipe]:
    spans = Spans(machine)
    found: dict[tuple[str, int, str], Recipe] = {}
    called: set[Function] = set()
    later: list[entries.Entry] = []

    def add(entry: entries.Entry) -> None:
        machine.called = set()
        recipe = entries.run(machine, entry, spans)
        called.update(machine.called - {entry.function})
        if recipe is not None:
            found[(recipe.path, recipe.line, recipe.name)] = recipe

    for module in modules:
        for entry in entries.functions(machine, module):
            if entry.name.startswith("_") or entries.needs_arguments(entry):
                later.append(entry)
            else:
                add(entry)
        for entry in entries.module_configurations(machine, module):
            add(entry)
        main = entries.script(machine, module)
        if main is not None:
            add(main)
    # Helpers are judged with the recipes that call them; by themselves only where none does.
    for entry in later:
        if entry.function not in called:
            add(entry)
    order = {module.path: position for position, module in enumerate(modules)}
    return sorted(found.values(), key=lambda recipe: (order[recipe.path], recipe.line, recipe.name))
