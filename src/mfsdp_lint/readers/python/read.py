"""From Python files to recipes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from mfsdp_lint.core.recipe import Recipe, Setting, Unfollowed
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.process import collect_new, spend, tell_progress, without_collection
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.addressed import NotThere, addressed
from mfsdp_lint.readers.python.entries.callers import FunctionCallers
from mfsdp_lint.readers.python.entries.entries import Entry, leads_to_configuration
from mfsdp_lint.readers.python.entries.exposed import with_exposed, with_variables
from mfsdp_lint.readers.python.entries.incremental import (
    Before,
    KeptEntries,
    KeptEntry,
    Key,
    NotReached,
    Tried,
    Unchanged,
    key_of,
    together,
)
from mfsdp_lint.readers.python.entries.interpreters import Interpreters
from mfsdp_lint.readers.python.entries.lost import lost, not_reached
from mfsdp_lint.readers.python.entries.rows import with_files, with_rows
from mfsdp_lint.readers.python.entries.running import Found, content
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.knowledge import NOTHING, Knowledge
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.parsing import let_go_of_bodies, parse
from mfsdp_lint.readers.python.state.paths import LONG_PATIENCE, PATIENCE, OutOfSteps, Raised, with_room
from mfsdp_lint.readers.python.values.objects import Module
from mfsdp_lint.readers.relevance import Relevance, speaks_of_recipes

NOT_KNOWN = "yields no configuration that can be known"
"""The report about a function that exists, but cannot be evaluated without running it."""

_UNITS_OF_A_FILE = 100
"""Work of parsing a file and finding its entry points, in objects that the evaluator makes in that time."""


@dataclass(frozen=True, slots=True)
class PythonRead:
    """Results of a reading: the recipes in the order of the files, the unreadable files, and missing addresses.

    `again` is for a later reading of the same files. `unfollowed` is all code of the files that makes, changes or
    launches a configuration without being, or being called by, one of the recipes: only a reading that takes nothing
    over from another one looks for it.
    """

    recipes: list[Recipe]
    unreadable: list[Unreadable]
    missing: list[Problem] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)
    again: Before | None = None
    unfollowed: tuple[Unfollowed, ...] = ()


@without_collection()
@with_room
def read_python(
    paths: Sequence[str],
    sources: Sources,
    knowledge: Knowledge[Interpreter] = NOTHING,
    search_path: Sequence[str] = (),
    *,
    addresses: Sequence[Address] = (),
    beside: Sequence[str] = (),
    tracing: bool = False,
    before: Before | None = None,
    relevance: Relevance | None = None,
    environment: Sequence[Setting] = (),
    only: Collection[tuple[str, str]] | None = None,
) -> PythonRead:
    """Read the recipes of Python files, and those that addresses name.

    `beside` are files of another reading of the same project: where they are imported they appear under these paths.

    `knowledge` describes upstream packages whose source is not at hand; `search_path` are folders with such source. A
    file that cannot be read or parsed is listed and does not stop the others. With `tracing`, origins know the calls
    that led to them. `before` is an earlier reading of the same files, with the same knowledge: recipes that no change
    of texts since then can reach are taken over. `relevance` is that of the same texts, where it is at hand;
    `environment` are the variables that every program is started with. With `only`, nothing but these entry points is
    run, each given by its path and name.
    """

    def make() -> Interpreter:
        finder = ModuleFinder(sources, search_path, relevance)
        finder.spell(beside)
        finder.ask_for([*paths, *(address.path for address in addresses)])
        finder.call(kept.names)
        return Interpreter(finder, knowledge.anew(), tracing, environment)

    before = None if addresses else before
    unchanged = Unchanged() if before is None else before.unchanged(sources, paths)
    kept = KeptEntries() if before is None else before.kept_of(unchanged)
    shared = make()
    faults = Faults()
    spend(_UNITS_OF_A_FILE * len(paths))
    modules, unreadable = _load(shared.finder, [path for path in paths if path not in kept.names], faults)
    loaded = {each.path: each.name for each in modules}
    names = {path: name for path in paths if (name := kept.names.get(path) or loaded.get(path)) is not None}
    named = {each.path: each.name for address in addresses if (each := shared.finder.load(address.path)) is not None}
    own = [path for path, name in (names | named).items() if not shared.is_upstream(name)]
    # Where no file is another one but for settings in its functions, what files import is what it was.
    same = before is not None and unchanged.effects is not None and before.asked == frozenset(paths)
    interpreters = Interpreters(make, own, shared, faults, unchanged.effects, is_sure=same)
    reading = _Reading(interpreters, list(names), unchanged, faults, kept, only)
    recipes = reading.recipes()
    users = together(*(interp.finder.users for interp in interpreters.all))
    aside = frozenset(key_of(each) for interp in interpreters.all for each in interp.shared_dependencies.functions)
    if before is not None:
        users, aside = together(before.users, users), aside | before.called_aside
    inspected = frozenset(key_of(each) for interp in interpreters.all for each in interp.inspected)
    complete = True
    for interp in interpreters.all:
        more = list(_imported(interp.finder, users, {each.path for each in unreadable}))
        unreadable += more
        complete = complete and not more
    unfollowed = tuple(reading.unfollowed()) if only is None and (before is None or before.is_kept) else ()
    used = together(users, *(each.finder.asking for each in interpreters.all), {} if same else interpreters.users)
    again = Before(
        sources,
        reading.tried,
        used,
        frozenset(paths),
        aside,
        interpreters.effects,
        kept=KeptEntries(names, reading.not_reached, inspected | kept.inspected),
        complete=complete,
    )
    read = PythonRead(recipes, unreadable, faults=faults.problems, again=again, unfollowed=unfollowed)
    if addresses:
        _add_addressed(interpreters, addresses, read, faults)
    for interp in interpreters.all:
        interp.let_go()
    return read


def _add_addressed(interpreters: Interpreters, addresses: Sequence[Address], read: PythonRead, faults: Faults) -> None:
    known = {(recipe.path, recipe.name) for recipe in read.recipes}
    for address in addresses:
        with faults.contained(address.path):
            try:
                interp = interpreters.of(address.path)
                spans = Spans(interp)
                entry = addressed(interp, address)
                if not entry.arguments and (address.path, entry.name) in known:
                    continue
                evaluation = with_files(interp, running.evaluate(interp, entry, spans), spans)
                evaluation = with_rows(interp, evaluation, spans)
                found = with_variables(interp, evaluation, _in_other_calls(interp, evaluation, spans)[0])
                if not found:
                    raise NotThere(f"{address.function} {NOT_KNOWN}")
                read.recipes.extend(each.recipe for each in found)
            except NotThere as error:
                read.missing.append(Problem(address.path, 1, 1, str(error), "usage"))
            except Unreadable as error:
                if error.path not in [other.path for other in read.unreadable]:
                    read.unreadable.append(error)


def _load(finder: ModuleFinder, paths: Sequence[str], faults: Faults) -> tuple[list[Module], list[Unreadable]]:
    modules, unreadable = [], []
    for path in paths:
        text = None
        with faults.contained(path):
            try:
                if not finder.relevance.is_parsed(path):
                    continue
                text = finder.sources.text(path)
                module = finder.load(path)
                if module is None:
                    parse(path, text)
                else:
                    modules.append(module)
            except Unreadable as error:
                said = error.about if text is None else text
                # Templates are nobody's mistake.
                error.foreign = said is not None and not finder.relevance.reaches(path, speaks_of_recipes)
                if said is None or error.cut_off or finder.relevance.reaches(path):
                    unreadable.append(error)
    return modules, unreadable


def _imported(finder: ModuleFinder, users: Mapping[str, set[str]], told: Collection[str]) -> Iterator[Unreadable]:
    """Yield the files that cannot be read and matter, whatever their text, because of the files that import them."""
    for error in finder.unreadable:
        if error.path not in told and any(map(finder.relevance.reaches, users.get(error.path, ()))):
            yield error


def _in_other_calls(
    interp: Interpreter, evaluation: running.Evaluation, spans: Spans
) -> tuple[list[running.Found], frozenset[Key]]:
    """Return an entry point's recipes with their variants in calls with other arguments, and the functions that ran for
    these.
    """
    entry, (found, ran) = evaluation.entry, with_exposed(interp, evaluation, spans)
    if entry.function is not None:
        found = [
            replace(each, recipe=replace(each.recipe, callers=FunctionCallers(interp, entry, spans, number)))
            for number, each in enumerate(found)
        ]
    return found, frozenset(map(key_of, ran))


class _Reading:
    """The entry points of all files, run in their order, but for the `unchanged` ones."""

    def __init__(
        self,
        interpreters: Interpreters,
        paths: Sequence[str],
        unchanged: Unchanged,
        faults: Faults,
        kept: KeptEntries,
        only: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self.interpreters = interpreters
        self.spans = {interp: Spans(interp) for interp in interpreters.all}
        self.unchanged = unchanged
        self.faults = faults
        self.kept = kept
        self.only = only
        self.not_reached: dict[str, NotReached] = {}
        self.tried = {path: self._tried(path) for path in paths}
        self.called: set[Key] = set()
        self.of_scripts: dict[str, tuple[Unfollowed | None, frozenset[Key]]] = {}
        self.revived: dict[Key, Entry | KeptEntry] = {}

    def _tried(self, path: str) -> list[Tried]:
        if path in self.kept.names:
            return self.unchanged.whole[path]
        return self.unchanged.whole.get(path) or self._entry_points(self._module(path))

    def _module(self, path: str) -> Module:
        module = self.interpreters.of(path).finder.load(path)
        assert module is not None  # it was loaded before
        return module

    def _entry_points(self, module: Module) -> list[Tried]:
        with self.faults.contained(module.path):
            self.interpreters.begin(module)
            found = list(_entry_points(self.interpreters.of(module.path), module))
            self.interpreters.of(module.path).pay()
            let_go_of_bodies()
            return [self._taken_over(each) for each in found]
        return []

    def _taken_over(self, found: Tried) -> Tried:
        """Give an entry point the results that it had before, if they still hold."""
        before = self.unchanged.single.get(found.key)
        return found if before is None else replace(before, entry=found.entry)

    def recipes(self) -> list[Recipe]:
        """Run the entry points and return their recipes."""
        early = [each for tried in self.tried.values() for each in tried if not each.late]
        late = [each for tried in self.tried.values() for each in tried if each.late]
        every = chain(_told(early), _told(late))
        ran: list[Tried] = []
        for tried in every:
            if self.only is not None and (tried.path, tried.entry.name) not in self.only:
                continue
            if tried.late and not self._stands_alone(tried):
                continue
            if not tried.ran:
                tried.ran = True
                with self.faults.contained(tried.path, tried.entry.line):
                    self._run(tried, self._entry(tried))
            if tried.found:
                self.called |= tried.called
                ran.append(tried)
        found = {(each.path, each.line, each.name): each for each in distinct(ran)}
        order = {path: position for position, path in enumerate(self.tried)}
        return sorted(found.values(), key=lambda recipe: (order[recipe.path], recipe.line, recipe.name))

    def _stands_alone(self, tried: Tried) -> bool:
        """Tell whether a helper may be a recipe: it is judged with its callers, by itself only where it has none."""
        if self._is_called(tried):
            return False
        if tried.may_stand_alone is None:
            tried.may_stand_alone = False
            with self.faults.contained(tried.path, tried.entry.line):
                interp, entry = self.interpreters.of(tried.path), self._entry(tried)
                assert entry.function is not None
                tried.may_stand_alone = entries.may_configure(interp, entry) or leads_to_configuration(
                    interp, entry.function, named=True
                )
        return bool(tried.may_stand_alone)

    def _is_called(self, tried: Tried) -> bool:
        """Tell whether a recipe calls a function, or one inside of it, which only that function can have made."""
        return not self.called.isdisjoint(tried.within)

    def unfollowed(self) -> Iterator[Unfollowed]:
        """Yield the code that configures something and is no part of a recipe, in the order of the files."""
        called: dict[str, set[int]] = {}
        for path, line, _ in self.called:
            called.setdefault(path, set()).add(line)
        for path, tried in self.tried.items():
            with self.faults.contained(path):
                yield from self._unfollowed(path, tried, called.get(path, set()))
            let_go_of_bodies()

    def _unfollowed(self, path: str, tried: Sequence[Tried], called: Collection[int]) -> list[Unfollowed]:
        found = [each.lost for each in _outermost([each for each in tried if not self._is_called(each)]) if each.lost]
        told = {each.entry.line for each in tried if each.ran or each.found}.union(called)
        if any((each.found or each.lost) and each.entry.kind != "function" for each in tried):
            told.add(1)
        known = self.kept.not_reached.get(path)
        if known is None or known.told != told:
            more = not_reached(self.interpreters.of(path), self._module(path), told)
            known = NotReached(frozenset(told), tuple(more))
        self.not_reached[path] = known
        return sorted([*found, *known.found], key=lambda each: (each.line, each.name))

    def _entry(self, tried: Tried) -> Entry:
        """Return an entry point that is to run, of an earlier run perhaps, in which it did not."""
        if tried.path in self.unchanged.whole and tried.key not in self.revived:
            self.revived |= {each.key: each.entry for each in self._entry_points(self._module(tried.path))}
        entry = self.revived.get(tried.key, tried.entry)
        assert isinstance(entry, Entry)
        return entry

    def _run(self, tried: Tried, entry: Entry) -> None:
        if entry.kind == "script" and tried.path in self.of_scripts:
            tried.lost, tried.called = self.of_scripts[tried.path]
            return
        interp = self.interpreters.of(tried.path)
        spans = self.spans[interp]
        result = running.evaluate(interp, entry, spans)
        persists = (
            not result.found
            and any(isinstance(each, OutOfSteps) for each in result.endings)
            and _may_come_to_one(interp, entry)
        )
        if persists:
            # Its text says that there is something to come to.
            result = running.evaluate(interp, entry, spans, patience=LONG_PATIENCE)
        asks = result.dependencies.variables or interp.shared_dependencies.variables or result.switches(interp)
        if not result.found and asks and all(isinstance(each, Raised) for each in result.endings):
            # A program that cannot run without an option or a variable that has no default is started with it.
            result = running.evaluate(interp, entry, spans, needed=True)
        result = with_rows(interp, with_files(interp, result, spans), spans)
        if not interp.finder.relevance.reaches(tried.path):
            # Any program changes settings of what it is given: `cfg.model.depth = 4`.
            result = replace(result, found=[each for each in result.found if not each.recipe.partial])
        elif not result.found:
            tried.lost = lost(interp, result, spans)
            if entry.function is not None and (script := entries.script_of(interp, entry)) is not None:
                # (A script is not followed for longer because of its text.)
                ended = None if persists else lost(interp, replace(result, entry=script), spans)
                self.of_scripts[tried.path] = ended, frozenset(map(key_of, result.dependencies.functions))
        tried.called = frozenset(key_of(each) for each in result.dependencies.functions if each is not entry.function)
        if result.found:
            found = result.found
            if not self._repeats(tried, found):
                found, tried.called_otherwise = _in_other_calls(interp, result, spans)
            tried.found = tuple(
                each if each.launched else replace(each, recipe=replace(each.recipe, bases=tried.called))
                for each in with_variables(interp, result, found)
            )
        let_go_of_bodies()
        collect_new()
        interp.pay(len(tried.found))

    def _repeats(self, tried: Tried, found: Sequence[Found]) -> bool:
        """Tell whether a script launches only what functions of its file launch: `distinct` keeps those."""
        ran = (each for each in self.tried[tried.path] if each.ran and not each.late)
        of_functions = {each.own: each.found for each in ran if each.own is not None}
        return all(next(_bodies(tried, each, of_functions), None) is not None for each in found)


def _outermost(tried: Sequence[Tried]) -> list[Tried]:
    """Return the entry points that are lost: not those that another lost function calls, nor a script that calls one.

    What surely raises is kept, whoever calls it.
    """
    kept: list[Tried] = []
    called: set[Key] = set()
    lost = [each for each in tried if each.lost is not None]
    for each in sorted(lost, key=lambda one: (one.own is None, -len(one.called))):
        inner = not each.called.isdisjoint(one.own for one in kept if one.own is not None)
        surely = each.lost is not None and each.lost.certain
        if surely or (not inner if each.own is None else each.own not in called):
            kept.append(each)
            called |= each.called
    return kept


def _told(tried: Sequence[Tried]) -> Iterator[Tried]:
    for number, each in enumerate(tried):
        tell_progress("functions read", number, len(tried))
        yield each


def _may_come_to_one(interp: Interpreter, entry: Entry) -> bool:
    """Tell whether an entry point makes, changes or launches a configuration by its text, but met none when it ran."""
    if interp.path.limit > PATIENCE or entry.function is None:
        return False
    return leads_to_configuration(interp, entry.function)


def _entry_points(interp: Interpreter, module: Module) -> Iterator[Tried]:
    for entry in entries.functions(interp, module):
        is_private = entry.name.startswith("_")
        if not (is_private and entries.is_out_of_use(interp, module, entry.name)):
            yield Tried(module.path, entry, late=is_private or entries.needs_arguments(entry))
    for entry in entries.partials(interp, module):
        yield Tried(module.path, entry, late=entries.needs_arguments(entry))
    for entry in entries.methods(interp, module):
        yield Tried(module.path, entry, late=True, may_stand_alone=True)
    for entry in entries.module_configurations(interp, module):
        yield Tried(module.path, entry)
    main = entries.script(interp, module)
    if main is not None:
        yield Tried(module.path, main)


Globals = Mapping[tuple[str, str], Found]
"""By file and name."""


def distinct(ran: Sequence[Tried]) -> list[Recipe]:
    """Return the recipes of entry points that ran, each once.

    A script shares a recipe with the function that it calls to launch, and with the global name of the configuration.
    """
    of_functions = {each.own: each.found for each in ran if each.own is not None}
    in_modules = {(each.path, each.entry.name): each.found[0] for each in ran if each.entry.kind == "module"}
    in_scripts = {(each.path, name): found for each in ran for found in each.found for name in found.names}
    kept: list[Found] = []
    bodies: list[Found] = []
    for tried in ran:
        for found in tried.found:
            body = next(_bodies(tried, found, of_functions), None)
            if body is not None:
                bodies.append(body)
            elif not _is_in_script(tried, found, in_scripts) and not _is_global(tried, found, in_modules):
                kept.append(found)
    scripts = set(map(id, bodies))
    made_of = {
        id(found): tried.called & of_functions.keys() for tried in ran for found in tried.found if found.launched
    }
    recipes = [replace(each.recipe, kind="script") if id(each) in scripts else each.recipe for each in kept]
    return [
        replace(recipe, pieces=made_of[id(each)]) if made_of.get(id(each)) else recipe
        for each, recipe in zip(kept, recipes, strict=True)
    ]


def _bodies(tried: Tried, found: Found, of_functions: Mapping[Key, Sequence[Found]]) -> Iterator[Found]:
    """Yield the launches of functions that a script calls, as far as the script launches the same."""
    if tried.entry.kind == "script" and found.launched:
        called = (each for key in tried.called for each in of_functions.get(key, ()))
        yield from (each for each in called if each.launched and _same(each, found))


def _is_in_script(tried: Tried, found: Found, in_scripts: Globals) -> bool:
    """Tell whether a script launches the configuration that a global name holds, or changes it."""
    script = in_scripts.get((tried.path, tried.entry.name)) if tried.entry.kind == "module" else None
    return script is not None and (script.launched or not _same(script, found))


def _is_global(tried: Tried, found: Found, in_modules: Globals) -> bool:
    """Tell whether a script has only the configuration that a global name holds when the file is imported."""
    if found.launched:
        return False
    there = (in_modules.get((tried.path, name)) for name in found.names)
    return any(each is not None and _same(each, found) for each in there)


def _same(one: Found, other: Found) -> bool:
    return content(one.recipe) == content(other.recipe)
