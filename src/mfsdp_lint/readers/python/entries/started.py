"""A script as somebody starts it: the recipes that it comes to with these words, in this environment."""

from __future__ import annotations

from typing import Any

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.process import without_collection
from mfsdp_lint.readers.given_words import Given
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.incremental import key_of
from mfsdp_lint.readers.python.entries.touched import Key
from mfsdp_lint.readers.python.entries.upstream_scripts import upstream_script
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.state.paths import PATIENCE
from mfsdp_lint.readers.python.state.room import with_room
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python_relevance import is_relevant
from mfsdp_lint.readers.reader import ToRead


@dataclass(frozen=True, slots=True)
class Started:
    """What a script comes to when it is started: its recipes, and what runs: its functions, and the script itself.

    `raised` is how it surely ends where there are no recipes.
    """

    recipes: tuple[Recipe, ...]
    ran: frozenset[Key] = frozenset()
    raised: Raised | None = None


NOTHING = Started(())


class Programs:
    """The Python scripts of a tree. Those that are started in the same environment share what they import.

    `nemo` is as for `read_python`.
    """

    def __init__(self, asked: ToRead, nemo: Any = None) -> None:
        self.asked = asked
        self.nemo = nemo
        self.machines: dict[object, Machine] = {}

    def start(self, path: str, given: Given) -> Started:
        """What the script of a file comes to; nothing where it is none, or configures nothing that is known.

        Raises whatever a fault of the evaluator's own raises.
        """
        if not is_relevant(path, self.asked.sources):
            return NOTHING
        with without_collection():
            return with_room(lambda: self._start(path, given))

    def start_upstream(self, name: str, given: Given) -> Started:
        """The same of a script of Megatron-Bridge that is not in the tree, where it is known what it does."""
        tree = upstream_script(name, self.asked.target.bridge)
        if tree is None:
            return NOTHING
        with without_collection():
            module = Module(f"<{name}>", name, tree)
            return with_room(lambda: self._run(self._machine(given), module, given, needs_all=True))

    def _start(self, path: str, given: Given) -> Started:
        machine = self._machine(given)
        machine.finder.ask_for([path])
        module = machine.finder.load(path)
        return NOTHING if module is None else self._run(machine, module, given)

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
        if not found:
            raised = [each for each in endings if isinstance(each, Raised)]
            return Started((), raised=raised[0]) if len(raised) == len(endings) else NOTHING
        if needs_all and not all(each.known for each in found):
            return NOTHING
        ran = {key_of(each) for each in machine.called} | {(module.path, entry.line, entry.name)}
        return Started(tuple(each.recipe for each in found), frozenset(ran))

    def _machine(self, given: Given) -> Machine:
        """Modules are imported once: what they found in the environment is for one environment."""
        key = tuple(sorted((each.path, repr(each.value)) for each in given.environment)), given.ranks
        if key not in self.machines:
            finder = ModuleFinder(self.asked.sources, self.asked.search_path)
            finder.spell(self.asked.every)
            finder.ask_for([each for each in self.asked.every if each.endswith(".py")])
            self.machines[key] = Machine(finder, self.asked.knowledge(), self.asked.tracing, self.nemo)
        return self.machines[key]
