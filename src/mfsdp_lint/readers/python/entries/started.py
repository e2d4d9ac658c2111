"""A started script: the recipes that it yields with these words, in this environment.

Scripts of Megatron-Bridge that launches name and no tree has: their behaviour is written down.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.megatron.versions.ranges import is_version, numbers
from mfsdp_lint.process import without_collection
from mfsdp_lint.readers.given_words import Given
from mfsdp_lint.readers.launch_memory import Ran
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.incremental import key_of
from mfsdp_lint.readers.python.entries.switching_variables import with_variables
from mfsdp_lint.readers.python.entries.touched import Key
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.paths import PATIENCE
from mfsdp_lint.readers.python.state.room import with_room
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.reader import ToRead

_UPSTREAM = Path(__file__).parents[1] / "library" / "programs"
"""Models of Megatron-Bridge's scripts, in folders named after the first release that they are for. They are read here,
and imported by nobody."""


@cache
def upstream_script(name: str, version: str) -> ast.Module | None:
    """Return the script of this name in a release; None where it is not written down."""
    folders = sorted(
        (each for each in _UPSTREAM.iterdir() if is_version(each.name)), key=lambda folder: numbers(folder.name)
    )
    known = [folder / name for folder in folders if numbers(folder.name) <= numbers(version)]
    path = known[-1] if known and re.fullmatch(r"\w+\.py", name) else None
    return ast.parse(files.read(path)) if path is not None and path.is_file() else None


@dataclass(frozen=True, slots=True)
class Started:
    """A started script's recipes, and the code that runs: its functions, and the script itself.

    `raised` is how it surely ends where there are no recipes.
    """

    recipes: tuple[Recipe, ...]
    ran: frozenset[Key] = frozenset()
    raised: Raised | None = None


NOTHING = Started(())


class Programs:
    """The Python scripts of a tree. Those that are started in the same environment share what they import.

    `nemo` is as for `read_python`. `ran` receives the functions that run and the files that are read.
    """

    def __init__(self, asked: ToRead, nemo: Any = None, ran: Ran | None = None) -> None:
        self.asked = asked
        self.nemo = nemo
        self.ran = Ran() if ran is None else ran
        self.machines: dict[object, Machine] = {}

    def start(self, path: str, given: Given) -> Started:
        """Return the recipes of a file's script; none where it is no script, or configures nothing that is known.

        Raises whatever a fault of the evaluator's own raises.
        """
        if not self.asked.relevance.is_parsed(path):
            return NOTHING
        with without_collection(), self.asked.sources.recording(self.ran.texts):
            return with_room(lambda: self._start(path, given))

    def start_upstream(self, name: str, given: Given) -> Started:
        """Return the recipes of a Megatron-Bridge script that is not in the tree, where its behaviour is known."""
        tree = upstream_script(name, self.asked.target.bridge)
        if tree is None:
            return NOTHING
        with without_collection(), self.asked.sources.recording(self.ran.texts):
            module = Module(f"<{name}>", name, tree)
            return with_room(lambda: self._run(self._machine(given), module, given, needs_all=True))

    def _start(self, path: str, given: Given) -> Started:
        machine = self._machine(given)
        machine.finder.ask_for([path])
        module = machine.finder.load(path)
        started = NOTHING if module is None else self._run(machine, module, given)
        if self.asked.relevance.reaches(path):
            return started
        recipes = tuple(each for each in started.recipes if not each.partial)
        return replace(started, recipes=recipes) if recipes else NOTHING

    def _run(self, machine: Machine, module: Module, given: Given, *, needs_all: bool = False) -> Started:
        entry = entries.script(machine, module)
        if entry is None:
            return NOTHING
        machine.given, machine.called, machine.patience = given, set(), PATIENCE
        try:
            endings: list[running.Ending] = []
            found = running.run(machine, entry, Spans(machine), endings)
        finally:
            machine.given = None
            self.note(machine, entry)
        if not found:
            raised = [each for each in endings if isinstance(each, Raised)]
            return Started((), raised=raised[0]) if len(raised) == len(endings) else NOTHING
        if needs_all and not all(each.known for each in found):
            return NOTHING
        found = with_variables(machine, entry, found, [each.module for each in machine.called])
        ran = {key_of(each) for each in machine.called} | {(module.path, entry.line, entry.name)}
        return Started(tuple(each.recipe for each in found), frozenset(ran))

    def note(self, machine: Machine, entry: entries.Entry) -> None:
        """Record that the code of a script ran, with all that it called."""
        key = self.asked.sources.key
        self.ran.functions.add((key(entry.module.path), entry.line, entry.name))
        self.ran.functions.update((key(path), line, name) for path, line, name in map(key_of, machine.called))
        self.ran.aside.update((key(path), line, name) for path, line, name in map(key_of, machine.called_aside))

    def _machine(self, given: Given) -> Machine:
        """Return the machine for an environment: a module is imported once, and reads the variables of only one."""
        key = tuple(sorted((each.path, repr(each.value)) for each in given.environment)), given.ranks
        if key not in self.machines:
            finder = ModuleFinder(self.asked.sources, self.asked.search_path, self.asked.relevance)
            finder.spell(self.asked.every)
            finder.ask_for([each for each in self.asked.every if each.endswith(".py")])
            self.machines[key] = Machine(
                finder, self.asked.knowledge(), self.asked.tracing, self.nemo, self.asked.environment
            )
        return self.machines[key]
