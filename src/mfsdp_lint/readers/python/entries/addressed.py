"""From an address or a command to what can be run: one function of a file, or a script, with its arguments."""

from __future__ import annotations

import ast
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from mfsdp_lint.core.nearest import did_you_mean, nearest
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.process import collect_new, without_collection
from mfsdp_lint.readers.given_words import Given
from mfsdp_lint.readers.launch_memory import NOTHING, Ran, Started
from mfsdp_lint.readers.launch_memory import Function as FunctionKey
from mfsdp_lint.readers.python.entries import entries, running
from mfsdp_lint.readers.python.entries.entries import Entry, functions, method, partials, positional_given, script
from mfsdp_lint.readers.python.entries.exposed import with_variables
from mfsdp_lint.readers.python.entries.incremental import key_of
from mfsdp_lint.readers.python.eval.classes import mro, namespace
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.imports import ensure_ran, import_now, resolve_global
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.parsing import parse
from mfsdp_lint.readers.python.state.paths import (
    LONG_PATIENCE,
    Dependencies,
    OutOfSteps,
    Raised,
    RefusedCall,
    with_room,
)
from mfsdp_lint.readers.python.values.objects import MISSING, ClassObject, Function, Module, Object, Partial, Unknown
from mfsdp_lint.readers.reader import ToRead

if TYPE_CHECKING:
    from mfsdp_lint.core.recipe import Unfollowed
    from mfsdp_lint.readers.shell.state import Held, HeldCommand


class NotThere(Exception):
    """An address that names nothing, or calls it in a way that it cannot be called; the text says what to do."""


def addressed(interp: Interpreter, address: Address) -> Entry:
    """Return the entry point that an address names. Raises NotThere, and Unreadable for its file."""
    module = interp.finder.load(address.path)
    if module is None:
        parse(address.path, interp.finder.sources.text(address.path))
        raise NotThere("cannot be read")
    ensure_ran(interp, module)
    owner, _, name = address.function.rpartition(".")
    entry = _inside(interp, module, owner, name) if owner else _top_level(interp, module, name)
    if entry is None:
        raise NotThere(f"there is no function {address.function}{_nearest(interp, module, address.function)}")
    if entry.function is None:
        if address.positional or address.keywords:
            raise NotThere(f"{address.function} is no function: it takes no arguments")
        return entry
    return replace(entry, module=module, arguments=_bound(address, entry))


def _top_level(interp: Interpreter, module: Module, name: str) -> Entry | None:
    value = resolve_global(interp, module, name)
    decorated = [each for each in functions(interp, module) if each.name == name and each.wrapper is not None]
    if decorated:
        return decorated[0]
    if isinstance(value, Function) and isinstance(value.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        own = value.module is module
        return Entry(name, module, "function", value.node.lineno if own else _line(module, name), value)
    if isinstance(value, Partial) and isinstance(value.function, Function):
        return Entry(name, module, "function", _line(module, name), value.function, partial=value)
    if is_container(interp, value):
        return Entry(name, module, "module", _line(module, name))
    main = script(interp, module)
    return main if main is not None and main.name == name else None


def _line(module: Module, name: str) -> int:
    """Return the line where a module's top level binds a name that is no function of its own."""
    for node in module.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if name in bound:
            return node.lineno
    return 1


def _inside(interp: Interpreter, module: Module, owner: str, name: str) -> Entry | None:
    """Return the entry point of a method of a class, or of a function in a table."""
    cls = resolve_global(interp, module, owner)
    if not isinstance(cls, ClassObject):
        return next((each for each in partials(interp, module) if each.name == f"{owner}.{name}"), None)
    bases = [base for base in mro(interp, cls) if isinstance(base, ClassObject) and name in namespace(interp, base)]
    return method(interp, cls, bases[0], name) if bases else None


def _bound(address: Address, entry: Entry) -> Mapping[str, Plain]:
    """Bind the arguments of an address to the parameters that take them."""
    assert entry.function is not None
    parameters: ast.arguments = entry.function.node.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)][positional_given(entry) :]
    if len(address.positional) > len(positional):
        few = f"{len(positional)} at most" if positional else "none"
        raise NotThere(f"{address.function} takes {few} of the {len(address.positional)} positional arguments")
    given = dict(zip(positional, address.positional, strict=False))
    named = {*positional, *(each.arg for each in parameters.kwonlyargs)}
    for name, value in address.keywords:
        if name in given:
            raise NotThere(f"{address.function} is given {name} twice")
        if name not in named and parameters.kwarg is None:
            hint = did_you_mean(name, sorted(named)) or f" (it has: {', '.join(sorted(named)) or 'none'})"
            raise NotThere(f"{address.function} has no parameter {name}{hint}")
        given[name] = value
    return given


def _nearest(interp: Interpreter, module: Module, name: str) -> str:
    known = [
        f"{node.name}.{inner.name}" if isinstance(node, ast.ClassDef) else inner.name
        for node in module.tree.body
        for inner in (node.body if isinstance(node, ast.ClassDef) else [node])
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    close = nearest(name, known, cutoff=0.0)
    return f"; the nearest is {close[0]}" if close else "; the file has none"


def _ran_out(evaluation: running.Evaluation) -> bool:
    return not evaluation.found and any(isinstance(each, OutOfSteps) for each in evaluation.endings)


def _launches(interp: Interpreter, module: Module) -> bool:
    """Tell whether a function of a script leads to a launch, by the text."""
    own = (each.function for each in functions(interp, module))
    return any(each is not None and entries.leads_to_launch(interp, each) for each in own)


@dataclass(frozen=True, slots=True)
class Watch:
    """A program of which it is asked what it starts, the interpreter that finds out, and the files that this reads."""

    path: str
    interp: Interpreter
    texts: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Starts:
    """Commands that a program starts where it is `given` this, with what surely fails before, and what they depend on.

    The program was followed with this `patience`. What programs share was read and ran for all that were followed
    `beside` it.
    """

    given: Given | None
    patience: int
    found: Sequence[Held | HeldCommand]
    refused: Sequence[Unfollowed]
    ran: Ran
    beside: Ran


@dataclass(frozen=True, slots=True)
class _NoRun:
    """A start that came to nothing, the functions that ran and the files that were read. What programs share was read
    and ran for all that were followed `beside` it.
    """

    given: Given
    started: Started
    functions: frozenset[FunctionKey]
    texts: frozenset[str]
    beside: Ran


_Kept = TypeVar("_Kept")

_MOST_STARTS = 16
"""Different starts of one program whose commands are remembered: a script starts it on each of its ways."""

_MOST_KEPT = 6
"""Orders of modules of which interpreters are kept: whoever starts a program often does so in scripts side by side."""


class ProgramEvaluation:
    """Evaluates the programs of a tree. Those that are started in the same environment share what they import.

    `ran` receives the functions that run and the files that are read. `idle` are the programs of which no function that
    others may call starts anything, with whatever words and variables the program itself is started. `watched` is the
    last program of which it was asked what it starts.
    """

    def __init__(self, asked: ToRead, ran: Ran) -> None:
        self.asked = asked
        self.ran = ran
        self.interpreters: dict[tuple[str, ...], list[Interpreter]] = {}
        self.idle: dict[str, Ran] = {}
        self._starts: dict[str, deque[Starts]] = {}
        self.watched: Watch | None = None

    def start(self, path: str, given: Given) -> Started:
        """Return the recipes of a file's script; none where it is no script, or configures nothing that is known."""
        known = self._known_as_no_run(path, given)
        if known is not None:
            return known
        with without_collection(), self.asked.sources.recording(self.ran.texts), self.noting() as noted:
            started = self._start(path, given)
            collect_new()
        if not (started.recipes or noted.of_target):
            nothing = _NoRun(given, started, frozenset(noted.functions), frozenset(noted.texts), self.ran)
            self._no_runs.setdefault(_texts(path, given), []).append(nothing)
        return started

    def _known_as_no_run(self, path: str, given: Given) -> Started | None:
        """Return the result of starting a program that came to nothing for another release; what it did is recorded."""
        known = next((each for each in self._no_runs.get(_texts(path, given), ()) if each.given == given), None)
        if known is None:
            return None
        self.ran.functions |= known.functions
        self.ran.aside |= known.beside.aside
        self.ran.texts |= known.texts | known.beside.texts
        self.asked.sources.note(known.texts | known.beside.texts)
        return known.started

    @cached_property
    def _no_runs(self) -> dict[tuple[str, ...], list[_NoRun]]:
        """The starts that came to nothing, for all readings that differ in the release alone, by program and words."""
        return self._of_any_release("starts of no run", dict[tuple[str, ...], list[_NoRun]])

    @cached_property
    def _starts_of_any_release(self) -> dict[str, deque[Starts]]:
        """The last starts of programs, by file, for all readings that differ in the release alone."""
        return self._of_any_release("starts", dict[str, deque[Starts]])

    def _of_any_release(self, name: str, make: Callable[[], _Kept]) -> _Kept:
        """Share something between all readings that differ in the release alone, and not in the facts about it."""
        asked = self.asked
        where = (asked.target.library, tuple(asked.search_path), frozenset(asked.every), asked.tracing)
        variables = tuple((each.path, repr(each.value)) for each in asked.environment)
        return asked.sources.shared((name, *where, variables, frozenset(asked.sources.unsaved.items())), make).result

    def start_upstream(self, tree: ast.Module, name: str, starter: str, given: Given) -> Started:
        """Return the recipes of a Megatron-Bridge script that is not in the tree: it finds what its starter would."""
        with without_collection(), self.asked.sources.recording(self.ran.texts):
            module = Module(os.path.join(os.path.dirname(starter), f"<{name}>"), name, tree)
            module.upstream = f"megatron-bridge {self.asked.target.bridge}"
            started = self._run(self._interpreter(module.path, given), module, given, needs_all=True)
        # Arguments that the stand-in refuses, and a recipe that the release does not have, are the program's, too; how
        # it ends otherwise says nothing of the program.
        ending = started.ending
        named = isinstance(ending, Raised) and ending.name in ("ValueError", "AttributeError")
        refuses = isinstance(ending, RefusedCall) or named
        return started if refuses else replace(started, ending=None)

    @with_room
    def _start(self, path: str, given: Given) -> Started:
        interp = self._interpreter(path, given)
        programs = interp.programs
        interp.finder.ask_for([path])
        # (Of a framework's program nothing runs but what composes its configuration.)
        is_described = (module := interp.finder.load(path)) is not None and interp.knowledge.describes(module.name)
        telling = frozenset[str]() if is_described else frozenset(programs.suspects([path]))
        if telling:
            order = tuple(each for each in programs.order(path) if each in telling)
            leading = [each for each in programs.files(path) if not telling.isdisjoint(programs.files(each))]
            interp = self._interpreter(path, given, order)
            interp.leading |= {os.path.abspath(each) for each in leading}
        interp.finder.ask_for([path])
        module = interp.finder.load(path)
        if module is not None and os.path.abspath(path) in interp.leading:
            with interp.started(given):
                interp.begin(())
                import_now(interp, module)
        started = NOTHING if module is None else self._run(interp, module, given)
        if self.asked.relevance.reaches(path):
            return started
        recipes = tuple(each for each in started.recipes if not each.partial)
        return replace(started, recipes=recipes) if recipes else NOTHING

    @with_room
    def _run(self, interp: Interpreter, module: Module, given: Given, *, needs_all: bool = False) -> Started:
        entry = entries.script(interp, module)
        if entry is None:
            return NOTHING
        spans = Spans(interp)
        evaluation = running.evaluate(interp, entry, spans, given=given)
        if ran_out := _ran_out(evaluation) and _launches(interp, module):
            evaluation = running.evaluate(interp, entry, spans, given=given, patience=LONG_PATIENCE)
            ran_out = _ran_out(evaluation)
        found, dependencies = evaluation.found, evaluation.dependencies
        note(self.asked, self.ran, interp, entry, dependencies)
        interp.pay(len(found))
        if not found and evaluation.composed:
            return Started(tuple(evaluation.composed), frozenset({(module.path, entry.line, entry.name)}))
        if not found:
            raised = [each for each in evaluation.endings if isinstance(each, Raised)]
            surely = raised[0] if len(raised) == len(evaluation.endings) else None
            return Started((), ending=OutOfSteps() if ran_out else surely)
        if needs_all and not all(each.known for each in found):
            return NOTHING
        found = with_variables(interp, evaluation, found)
        ran = {key_of(each) for each in dependencies.functions} | {(module.path, entry.line, entry.name)}
        return Started(tuple(each.recipe for each in found), frozenset(ran))

    def watching(self, path: str, given: Given | None) -> Watch | None:
        """Return the watch of a program's starts that was the last, if it finds the same modules for this start."""
        watch = self.watched
        if watch is None or given is None or watch.path != path or not _is_fit(watch.interp, path, given):
            return None
        # (Which modules change others may be another question for other words.)
        return None if watch.interp.affected or watch.interp.setting else watch

    def known_as_idle(self, path: str) -> bool:
        """Tell whether a program is one of those that are `idle`; what showed it is recorded again."""
        known = self.idle.get(path)
        if known is not None:
            self._take_over(known)
        return known is not None

    def known_starts(self, path: str, given: Given | None, patience: int) -> Starts | None:
        """Return what a program is known to start for these words and variables; what showed it is recorded again."""
        every: list[Starts] = [*self._starts.get(path, ()), *self._starts_of_any_release.get(path, ())]
        for known in every:
            if known.patience == patience and known.given == given:
                self._take_over(known.ran)
                if known.beside is not self.ran:
                    self.ran.aside |= known.beside.aside
                    self.ran.texts |= known.ran.texts | known.beside.texts
                    self.asked.sources.note(known.beside.texts)
                return known
        return None

    def keep_starts(self, path: str, starts: Starts) -> None:
        """Keep what a program starts; where it may be otherwise for another release, for this reading alone."""
        kept = self._starts if starts.ran.of_target else self._starts_of_any_release
        kept.setdefault(path, deque(maxlen=_MOST_STARTS)).append(starts)

    def _take_over(self, known: Ran) -> None:
        self.ran.functions |= known.functions
        self.ran.aside |= known.aside
        self.asked.sources.note(known.texts)

    @contextmanager
    def noting(self) -> Iterator[Ran]:
        """Also record by itself what is read and run meanwhile."""
        outer, own = self.ran, Ran()
        self.ran = own
        try:
            with self.asked.sources.recording(own.texts):
                yield own
        finally:
            self.ran = outer
            outer.functions |= own.functions
            outer.aside |= own.aside
            outer.of_target = outer.of_target or own.of_target

    def _interpreter(self, path: str, given: Given, order: tuple[str, ...] = ()) -> Interpreter:
        """Return an interpreter for a file's program: modules are imported once for all programs that find them alike.

        These run the modules which may change others in the same `order`, and give the variables that module state was
        made of the same values.
        """
        # (Those in front were asked last.)
        self.interpreters = {order: self.interpreters.pop(order, []), **self.interpreters}
        while len(self.interpreters) > _MOST_KEPT:
            for each in self.interpreters.popitem()[1]:
                each.let_go()
        every = self.interpreters[order]
        found = next((each for each in every if _is_fit(each, path, given)), None)
        if found is None:
            asked = self.asked
            found = Interpreter(self._finder.anew(), asked.knowledge(), asked.tracing, asked.environment)
            # One whose modules depend on the words that they were started with is fit for no other start.
            for each in [each for each in every if each.shared_dependencies.asks_start]:
                every.remove(each)
                each.let_go()
            every.append(found)
        return found

    def let_go(self) -> None:
        """Forget what only further programs would ask for: the recipes keep interpreters alive."""
        for each in chain.from_iterable(self.interpreters.values()):
            each.let_go()

    @cached_property
    def _finder(self) -> ModuleFinder:
        """A finder that has not loaded anything, of which each interpreter has a copy."""
        asked = self.asked
        finder = ModuleFinder(asked.sources, asked.search_path, asked.relevance)
        finder.spell(asked.every)
        finder.ask_for([each for each in asked.every if each.endswith(".py")])
        return finder


def _texts(path: str, given: Given) -> tuple[str, ...]:
    return (path, *(word.text for word in given.words))


def note(asked: ToRead, ran: Ran, interp: Interpreter, entry: entries.Entry, dependencies: Dependencies) -> None:
    """Record that the code of a script ran, with all that it called."""
    key = asked.sources.key
    ran.functions.add((key(entry.module.path), entry.line, entry.name))
    ran.of_target = ran.of_target or interp.takes_from_target or interp.knowledge.depends_on_target
    for known, by in ((ran.functions, dependencies), (ran.aside, interp.shared_dependencies)):
        known.update((key(path), line, name) for path, line, name in map(key_of, by.functions))


def _is_fit(interp: Interpreter, path: str, given: Given) -> bool:
    """Tell whether modules hold here what a program would find that is started from a file with these variables."""
    module = interp.finder.by_path.get(os.path.abspath(path))
    if interp.shared_dependencies.asks_start or not (module is None or module.asked_for):
        return False
    variables = interp.given_to(given).fields
    return all(
        _is_same_variable(variables.get(name, MISSING), value) for name, value in interp.module_variables.items()
    )


def _is_same_variable(given: Object, found: Object) -> bool:
    """Tell whether a variable is as module state found it: the same text, or not set; or one that is not known."""
    if isinstance(given, Unknown):
        return isinstance(found, Unknown) and given.text == found.text
    return given is found or (isinstance(given, str) and given == found)
