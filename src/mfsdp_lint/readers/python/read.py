"""From Python files to recipes."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mfsdp_lint.addresses import Address
from mfsdp_lint.readers.python import class_recipes, entries
from mfsdp_lint.readers.python.exposed import with_exposed
from mfsdp_lint.readers.python.machine import PATIENCE, Machine
from mfsdp_lint.readers.python.modules import Module, ModuleFinder, parse
from mfsdp_lint.readers.python.objects import Function
from mfsdp_lint.readers.python.room import with_room
from mfsdp_lint.readers.python.settings import Spans
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.sources import Problem, Sources, Unreadable

RELEVANT = re.compile(
    r"megatron|fsdp|ConfigContainer|cpu_offload|ckpt_format|CUDA_DEVICE_MAX|_config\b|pretrain|finetune|recipe",
    re.IGNORECASE,
)
"""A file without any of these words says nothing about a training run."""

MOST_SET_ASIDE = 1_000_000
"""Objects of earlier readings that are kept without asking whether anybody needs them (about 100 MB)."""
PYTHON_STACK = 20_000

NOT_KNOWN = "yields no configuration that can be known"
"""What is said of a function that is there, and of which nothing else can be told without running it."""


@dataclass(frozen=True, slots=True)
class PythonRead:
    """What was read: the recipes in the order of the files, the files that could not be read, and what was addressed
    but is not there."""

    recipes: list[Recipe]
    unreadable: list[Unreadable]
    missing: list[Problem] = field(default_factory=list)


def read_python(
    paths: Sequence[str],
    sources: Sources,
    knowledge: Any = None,
    search_path: Sequence[str] = (),
    *,
    addresses: Sequence[Address] = (),
    tracing: bool = False,
) -> PythonRead:
    """The recipes of Python files, and those that addresses name.

    `knowledge` is what is known of upstream packages whose source is not at hand; `search_path` are folders with such
    source. A file that cannot be read or parsed is listed and does not stop the others. With `tracing`, origins know
    the calls that led to them.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), PYTHON_STACK))
    finder = ModuleFinder(sources, search_path)
    finder.spell([*paths, *(address.path for address in addresses)])
    machine = Machine(finder, knowledge, tracing)
    with _without_collection():
        return with_room(lambda: _read(machine, paths, addresses))


def _read(machine: Machine, paths: Sequence[str], addresses: Sequence[Address]) -> PythonRead:
    modules, unreadable = _load(machine.finder, paths)
    read = PythonRead(_recipes(machine, modules), unreadable)
    if addresses:
        _add_addressed(machine, addresses, read)
    return read


@contextmanager
def _without_collection() -> Iterator[None]:
    # Syntax trees and recipes stay alive to the end; looking for cycles among them costs a third of the time. What is
    # there at the end is set aside, so that it is not looked at right afterwards, but only once there is much of it.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() > MOST_SET_ASIDE:
                gc.unfreeze()
                gc.collect()
            gc.freeze()
            gc.enable()


def _add_addressed(machine: Machine, addresses: Sequence[Address], read: PythonRead) -> None:
    from mfsdp_lint.readers.python.addressed import NotThere, addressed

    spans = Spans(machine)
    known = {(recipe.path, recipe.name) for recipe in read.recipes}
    for address in addresses:
        try:
            entry = addressed(machine, address)
            if not entry.arguments and (address.path, entry.name) in known:
                continue
            recipe = entries.run(machine, entry, spans)
            if recipe is None:
                raise NotThere(f"{address.function} {NOT_KNOWN}")
            read.recipes.append(with_exposed(machine, entry, recipe, spans))
        except NotThere as error:
            read.missing.append(Problem(address.path, 1, 1, str(error), "usage"))
        except Unreadable as error:
            if error.path not in [other.path for other in read.unreadable]:
                read.unreadable.append(error)


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
            found[(recipe.path, recipe.line, recipe.name)] = with_exposed(machine, entry, recipe, spans)
        elif machine.steps > PATIENCE:
            gc.collect(0)  # much was made, for nothing; only what is new is looked at

    for module in modules:
        for entry in entries.functions(machine, module):
            if entry.name.startswith("_") or entries.needs_arguments(entry):
                later.append(entry)
            else:
                add(entry)
        for entry in entries.partials(machine, module):
            if entries.needs_arguments(entry):
                later.append(entry)
            else:
                add(entry)
        later += class_recipes.methods(machine, module)
        for entry in entries.module_configurations(machine, module):
            add(entry)
        main = entries.script(machine, module)
        if main is not None:
            add(main)
    # Helpers are judged with the recipes that call them; by themselves only where none does.
    for entry in later:
        if entry.function not in called and entries.may_configure(entry):
            add(entry)
    order = {module.path: position for position, module in enumerate(modules)}
    return sorted(found.values(), key=lambda recipe: (order[recipe.path], recipe.line, recipe.name))
