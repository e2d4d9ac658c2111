"""The interpreter: the state that all parts of the evaluator share.

All changes go through `Interpreter.put`, so that any of them can be undone: branches that cannot be decided are tried
one after the other, every recipe starts from untouched modules, and a helper call is only remembered when it changed
nothing that it did not make itself.
"""

from __future__ import annotations

import ast
import os
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from mfsdp_lint.core.recipe import Origin, Recipe, Setting
from mfsdp_lint.core.values import Known
from mfsdp_lint.process import spend
from mfsdp_lint.readers.given_words import Given, GivenWord
from mfsdp_lint.readers.python.knowledge import NOTHING, Knowledge
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.own_argv import given_words
from mfsdp_lint.readers.python.state.paths import (
    IMPORTED,
    PATIENCE,
    Chosen,
    Command,
    Dependencies,
    ExecutionPath,
    Facts,
    OutOfSteps,
    Place,
)
from mfsdp_lint.readers.python.state.program_files import ProgramFiles
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, handed_on, trace
from mfsdp_lint.readers.python.values.code import calls_to, told_at
from mfsdp_lint.readers.python.values.markers import COPY_OF, MAY_HAVE_CHANGED, TAKEN_AWAY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Option,
    Unknown,
    Write,
    identical,
)
from mfsdp_lint.readers.python.values.objects import (
    Place as TextPlace,
)

_MOST_PIECES = 20_000
_FEW_PIECES = 2_000

FOLLOWED = (*CONSTANTS, tuple, ListObject, EnumMember, Option)
"""The kinds of values that somebody wants to know the source of."""

_ONLY_HERE = 2
"""References to what only a record and the call that counts them refer to."""

_write: Callable[[type[Write], tuple[Any, ...]], Write] = tuple.__new__

UNITS_OF_A_RECIPE = 1_000
"""Work of taking the settings of a recipe out and of judging them, in objects that are made in that time."""


def _stays_unknown(change: Place) -> bool:
    """Tell whether a change leaves a part of an unknown object as unknown as it was: nobody finds a difference."""
    owner, fields, key, old = change
    now = fields.get(key, MISSING)
    parts = now.options if isinstance(now, Choice) else () if now is MISSING else (now,)
    return isinstance(owner, Unknown) and all(isinstance(each, Unknown) for each in (old, *parts))


class Interpreter:
    """Knowledge at one moment of an evaluation; `path` is the execution path that the evaluation is on.

    `knowledge` has the facts of upstream's packages whose source is not at hand.
    `memo` holds results that were worked out once for all paths, `called` those of calls. `dependencies` are those of
    the entry point at hand, `shared_dependencies` those of module state, which whoever comes later finds made.
    `volatile` are the names of class attributes that the program itself writes; all others are looked up once a class.
    `variables` are the variables of the process environment that are not known; `asked_for` are those that nobody gives
    ("$NAME"), with the functions and modules that ask, or that decide by them. `inspected` are functions whose text was
    looked at, called or not.
    `switches` are the options of command lines that turn something on, by the files that declare options; those that
    are `turned_on` are given on trial, and those without a default while they are `needed`; those that are `chosen`
    have these values. `doubts` counts events
    that may not have happened as the evaluation took them to, `unfollowed` the calls of code out of sight.
    `given` holds the words and variables that the program is started with, where they are known; `outside` are the
    variables of the environment that are given to all other programs. `module_variables` are those that module state
    was made of, with the values that it found.
    `composed` are the recipes of the framework's configuration that the program which was started last composed.
    `converted` are the functions in which a call of a class is a task for it (`nemo_run.autoconvert`).
    `patience` is how many steps may pass before an entry point makes or changes a configuration.
    `returned` is the call that returned last, with the expression of its result, or the texts that decided it;
    `yielded` is the expression of the element that a generator gave last. `forwarding` are the functions that write
    their callers' values (`crossings` counts how often one was seen to). `looks` is how many looks are left to find
    one value's source. `gave` is the object that each call or comprehension gave last. `replaced` are the names of
    modules and classes that programs assign from outside, with their former values and the assignments.

    `entry` is the module whose entry point is run, `executing` the one whose top level (or a class of it) is.
    `affected` has, for each file whose import changes other modules, the names by which programs reach the changes;
    `setting` the variables of the process that each file's import sets, `asking` those that its own top level asks for.
    Changes of modules are undone, but for the `followed` files (None: all are followed), which belong to every program
    that is evaluated here: whatever imports a file that is `leading` to one of them, or to one that sets variables,
    runs it then, as Python does, and a `contested` name is looked up where it is imported. Files that only functions
    import (`within_functions`) change other modules, and variables, for the path that does so.
    """

    def __init__(
        self,
        finder: ModuleFinder,
        knowledge: Knowledge[Interpreter] = NOTHING,
        tracing: bool = False,
        outside: Sequence[Setting] = (),
    ) -> None:
        self.finder = finder
        self.knowledge = knowledge
        self.tracing = tracing
        self.outside = tuple(outside)
        self.memo: dict[Any, Any] = {}
        self.called: dict[Any, Any] = {}
        self.dependencies = Dependencies()
        self.shared_dependencies = Dependencies()
        self.clock = 0
        self._paid = 0
        self.module_level = 0
        self.skimming = 0
        self.volatile: set[str] = set()
        self.variables: dict[str, Unknown] = {}
        self.module_variables: dict[str, Any] = {}
        self.asked_for: dict[str, dict[ast.AST, Module]] = {}
        self.inspected: set[Function] = set()
        self.switches: dict[str, dict[str, None]] = {}
        self.turned_on: frozenset[str] = frozenset()
        self.chosen: Chosen = ()
        self.needed = False
        self.given: Given | None = None
        self.composed: Sequence[Recipe] | None = None
        self.converted: set[tuple[Module, str]] = set()
        self.patience = PATIENCE
        self.unfollowed = 0
        self.doubts = 0
        self.returned: tuple[Any, Text | tuple[TextPlace, ...]] | None = None
        self.yielded: Text | None = None
        self.crossings = 0
        self.forwarding: set[Function] = set()
        self.looks = 0
        self.patches_upstream = False
        """True once code that is not upstream's own has assigned to a module or class of upstream."""
        self.replaced: dict[tuple[int, str], tuple[Any, Object, TextPlace]] = {}
        self.gave: dict[ast.expr, Object] = {}
        self.pieces: dict[int, tuple[Any, Sequence[Write | None]]] = {}
        """The writes of the elements of the program's own tuples and lists, by the identity of each."""
        self._most_pieces = _FEW_PIECES
        self.suspect: Write | None = None
        """The call that is about to make everything within its reach unknown; told where calls are traced."""
        self.obstacle: TextPlace | None = None
        """The call that is not followed, while what it may have changed is forgotten."""
        self.entry: Module | None = None
        self.executing: Module | None = None
        self.affected: dict[str, set[str]] = {}
        self.takes_from_target = False
        """It has an answer of an interpreter that may have asked which release is judged against."""
        self.setting: dict[str, set[str]] = {}
        self.asking: dict[str, set[str]] = {}
        self.followed: frozenset[str] | None = None
        self.leading: frozenset[str] = frozenset()
        self.contested: frozenset[str] = frozenset()
        self.within_functions: frozenset[str] = frozenset()
        self._undone: dict[str, list[Place]] = {}
        """The places in other modules that each file that is not followed changed, with the values that it wrote."""
        self._run_with: dict[str, dict[Module, None]] = {}
        """The modules that each file's top level runs by imports of functions."""
        self.programs = ProgramFiles(finder, self.is_upstream, type(knowledge))
        self.upstream_programs = ProgramFiles(finder)
        self._era_starts = [0]
        self._eras: list[Module | None] = [None]
        """Whose top level made what was born since each of the starts."""
        self.words: dict[int, Unknown] = {}
        self.path = ExecutionPath((), 0, DictObject({}, 0))
        self.begin(())

    # -- execution paths ------------------------------------------------------------------------------------------

    def begin(self, decisions: tuple[bool, ...]) -> None:
        """Start one path through an entry point, taking the given sides of its first undecided branches (the first
        path takes none of them).
        """
        self.finish()
        before, started = self.path, self.clock
        self.path = ExecutionPath(decisions, started, self.started_environment())
        self.path.limit = self.patience
        if decisions:
            # The paths of an entry point share their steps.
            self.path.steps, self.path.limit = before.steps, before.limit
            self.path.given_up = before.given_up

    def finish(self) -> None:
        """End a path: what it changed of shared objects is undone, what it made stays as it is."""
        journal, started = self.path.journal, self.path.started
        while journal:
            owner, fields, key, old = journal.pop()
            if owner.born <= started:
                if old is MISSING:
                    fields.pop(key, None)
                else:
                    fields[key] = old

    def started_environment(self) -> DictObject:
        """Return the known variables that the program is started with."""
        return self.given_to(self.given)

    @contextmanager
    def started(self, given: Given | None) -> Iterator[None]:
        """Start programs with these words and variables for a while."""
        outer, self.given = self.given, given
        try:
            yield
        finally:
            self.given = outer

    def given_to(self, given: Given | None) -> DictObject:
        """Return the known variables of a start of a program: those from `outside`, where nobody is known to start it
        (None).
        """
        found = DictObject({}, self.tick())
        if given is not None and given.ranks is not None:
            found.fields["WORLD_SIZE"] = str(given.ranks)
        for setting in self.outside if given is None else given.environment:
            name = setting.path.partition(".")[2]
            value: Object = Unknown(self.tick(), f"${name}", True)
            if isinstance(setting.value, Known):
                value = None if setting.value.value is None else str(setting.value.value)
            found.fields[name] = value
            found.writes[name] = Write(None, setting.origin, None, "", "environment", value, self.tick(), None)  # type: ignore[arg-type]  # of data it is the origin, and no node
        return found

    @contextmanager
    def aside(self, module: Module | None = None) -> Iterator[None]:
        """Step outside of any path for a while: objects made then are shared, and nothing undoes the writes.

        It is the top level of `module` that runs; its changes of other modules belong to some programs only.
        """
        outer, dependencies, executing = self.path, self.dependencies, self.executing
        self.path, self.dependencies = outer.aside(), Dependencies()
        self.executing = module or executing
        self._begin_era()
        self.module_level += 1
        try:
            yield
        finally:
            if self.executing is not None and self.path.journal:
                self._keep_apart(self.executing)
            self.module_level -= 1
            self.path, self.executing = outer, executing
            self._begin_era()
            self.shared_dependencies.add(self.dependencies)
            dependencies.add(self.dependencies)
            self.dependencies = dependencies

    def _begin_era(self) -> None:
        self._era_starts.append(self.clock)
        self._eras.append(self.executing)

    def _keep_apart(self, module: Module) -> None:
        """Note what a module's top level changed of other modules, and undo it where that is not followed."""
        journal = [
            each for each in self.path.journal if self._home(each[0]) not in (None, module) and not _stays_unknown(each)
        ]
        if not journal:
            return
        file = os.path.abspath(module.path)
        theirs = {
            (id(fields), key): value for each in self.path.applied for _, fields, key, value in self._changes_of(each)
        }
        changes = {(id(each[0]), each[2] if isinstance(each[0], Module) else None): each for each in journal}
        self.affected.setdefault(file, set()).update(word for each in changes.values() for word in self._names_of(each))
        if self.followed is not None and file not in self.followed:
            undone = {(id(each[1]), each[2]): (*each[:3], each[1].get(each[2], MISSING)) for each in journal}
            own = (each for place, each in undone.items() if theirs.get(place, theirs) is not each[3])
            self._undone.setdefault(file, []).extend(own)
            for _, fields, key, old in reversed(journal):
                if old is MISSING:
                    fields.pop(key, None)
                else:
                    fields[key] = old

    def asks_at_import(self, variable: str) -> None:
        """Note that the top level that runs now, if one does, asks for a variable of the process."""
        if self.module_level and self.executing is not None:
            self.asking.setdefault(os.path.abspath(self.executing.path), set()).add(variable)

    def runs_with(self, modules: Iterable[Module]) -> None:
        """Note that the top level that runs now, if one does, runs those of other modules by a function's import."""
        if self.module_level and self.executing is not None:
            self._run_with.setdefault(os.path.abspath(self.executing.path), {}).update(dict.fromkeys(modules))

    def apply_changes(self, module: Module) -> None:
        """Apply to other modules the changes of a module's top level, and of those that run with it, once on a path."""
        key, path = (IMPORTED, os.path.abspath(module.path)), self.path
        if key in path.facts.fields:
            return
        self.put(path.facts, key, True)
        for each in self._run_with.get(key[1], ()):
            self.apply_changes(each)
        path.applied.append(module)
        for owner, fields, name, value in self._changes_of(module):
            self.place(owner, fields, name, value)
            if value is MISSING:
                del fields[name]
            if owner.born <= path.started:
                path.changed_shared = True

    def _changes_of(self, module: Module) -> Sequence[Place]:
        return self._undone.get(os.path.abspath(module.path), ())

    def _home(self, owner: Any) -> Any:
        """Return the module that made an object, or whose top level did; None where it belongs to no module.

        What a call makes, its local names among it, is made by the top level that calls, wherever the function is.
        """
        if isinstance(owner, Module):
            return owner
        if isinstance(owner, (ClassObject, Function)):
            return owner.module if owner.closure is None else self._home(owner.closure)
        if isinstance(owner, Frame) and owner.fields is owner.module.fields:
            return owner.module
        born = abs(getattr(owner, "born", 0))
        return self._eras[bisect_left(self._era_starts, born) - 1] if born else None

    def _names_of(self, change: Place) -> Iterator[str]:
        """Yield the names by which a program reaches a changed object."""
        owner, _, key, _ = change
        if isinstance(owner, (ClassObject, Function)):
            yield owner.name
        elif isinstance(owner, Module):
            yield str(key)
        else:
            home = self._home(owner)
            yield from (name for name, value in home.fields.items() if value is owner and isinstance(name, str))

    def let_go(self) -> None:
        """Forget all that only further programs would ask for: questions about recipes do without."""
        self.called.clear()
        self.pieces.clear()
        self.gave.clear()

    def anew(self) -> Interpreter:
        """Return an interpreter of the same texts in which nothing was imported yet, and that nobody gives anything.

        Changes of other modules are not followed: the order of the imports is that of the questions.
        """
        alone = Interpreter(self.finder.anew(), self.knowledge.anew(), self.tracing)
        alone.followed = frozenset()
        return alone

    # -- programs -------------------------------------------------------------------------------------------------

    def is_upstream(self, name: str) -> bool:
        """Tell whether a module, by its dotted name, belongs to a release that is known without its source."""
        return self.knowledge.covers(name)

    def program(self) -> tuple[str, ...]:
        """Return the files of the program that is evaluated."""
        return self.program_of(self.executing or self.entry)

    def program_of(self, module: Module | None) -> tuple[str, ...]:
        """Return the files of a module's program.

        All of upstream belongs to the program of an upstream module, and none of it to that of any other: the results
        for others are the same without upstream's source.
        """
        if module is None or module.written or module.upstream is not None:
            return ()
        programs = self.upstream_programs if self.is_upstream(module.name) else self.programs
        return programs.reach(module.path)

    @contextmanager
    def knowing(self, facts: Facts) -> Iterator[None]:
        """Back to what was decided on a path that has ended, for a question about what it yielded."""
        path = self.path
        now, path.facts = path.facts, facts
        try:
            yield
        finally:
            path.facts = now

    @contextmanager
    def blaming(self, obstacle: TextPlace | None) -> Iterator[None]:
        """Give this obstacle to what becomes unknown meanwhile."""
        outer, self.obstacle = self.obstacle, obstacle
        try:
            yield
        finally:
            self.obstacle = outer

    def tick(self) -> int:
        """Return the time of birth of a new object: larger than any before; negative for objects that modules share."""
        self.clock += 1
        return -self.clock if self.module_level else self.clock

    def pay(self, recipes: int = 0) -> None:
        """Count the objects made and the values written since the last time, and the recipes that were taken out of
        them, against the budget. Raises OverBudget.

        This is asked for between entry points, so that nothing is left half done.
        """
        made, self._paid = self.clock - self._paid, self.clock
        spend(made + UNITS_OF_A_RECIPE * recipes)

    def step(self) -> None:
        """Count one statement, call or turn of a loop; raises OutOfSteps past the limit."""
        path = self.path
        path.steps += 1
        if path.steps > path.limit:
            raise OutOfSteps

    def forgive(self, steps: int) -> None:
        """Count no steps after the first `steps`: they belong to a call that was not followed in the end."""
        self.path.steps = steps

    def found_configuration(self) -> None:
        """Give the rest of the path all its steps: a configuration is made, or a setting of an outside one written."""
        self.path.limit = self.path.budget

    def charge(self, length: int) -> None:
        """Count the work of going through so many elements."""
        if length > 64:
            self.path.steps += length >> 5

    # -- writing and undoing --------------------------------------------------------------------------------------

    def place(self, owner: Any, fields: dict[Any, Any], key: Any, value: Any) -> None:
        """Write one of the fields of `owner`, so that it can be undone."""
        path = self.path
        path.journal.append((owner, fields, key, fields.get(key, MISSING)))
        fields[key] = value
        if path.written is not None:
            path.written.append((owner, fields, key, value))

    def put(self, owner: Any, key: Any, value: Any) -> None:
        """Write one attribute, entry or local name of `owner`."""
        # (As `place` does, without calling it: nothing is done more often.)
        path, fields = self.path, owner.fields
        path.journal.append((owner, fields, key, fields.get(key, MISSING)))
        fields[key] = value
        if path.written is not None:
            path.written.append((owner, fields, key, value))
        if owner.born <= path.started:
            path.changed_shared = True

    def replaces(self, owner: Module | ClassObject, name: str, node: Any, frame: Frame) -> None:
        """Record a module's name, or a class's attribute, that a statement is about to assign from outside."""
        node, frame = told_at(node, frame)
        home = owner if isinstance(owner, Module) else owner.module
        self.patches_upstream |= self.is_upstream(home.name) and not self.is_upstream(frame.module.name)
        place = frame.module, node, frame.function
        self.replaced.setdefault((id(owner), name), (owner, owner.fields.get(name, MISSING), place))

    def drop(self, owner: Any, key: Any) -> None:
        """Remove one attribute, entry or local name of `owner`."""
        fields = owner.fields
        if key in fields:
            self.place(owner, fields, key, MISSING)
            del fields[key]

    def drop_entry(self, owner: Any, key: Any) -> None:
        """Remove one entry of a dictionary, so that undoing it brings it back in its place."""
        fields = owner.fields
        keys = list(fields)
        behind = keys[keys.index(key) + 1 :] if key in fields else []
        values = [fields[later] for later in behind]
        for later in reversed(behind):
            self.drop(owner, later)
        self.drop(owner, key)
        for later, value in zip(behind, values, strict=True):
            self.put(owner, later, value)
        if owner.writes.get(MAY_HAVE_CHANGED):
            self.record(owner, TAKEN_AWAY, owner.writes.get(TAKEN_AWAY, frozenset()) | {key})

    def record(self, owner: Any, key: Any, write: Any) -> None:
        """Remember who wrote `key` of `owner`."""
        self.place(owner, owner.writes, key, write)
        if key is MAY_HAVE_CHANGED and TAKEN_AWAY in owner.writes:
            self.place(owner, owner.writes, TAKEN_AWAY, frozenset())

    def rollback(self, mark: int) -> None:
        """Undo everything since the journal was `mark` entries long."""
        journal = self.path.journal
        while len(journal) > mark:
            _, fields, key, old = journal.pop()
            if old is MISSING:
                fields.pop(key, None)
            else:
                fields[key] = old

    def changes(self, mark: int) -> dict[tuple[int, Any], Place]:
        """Return the state of every place written since `mark`, by place."""
        return {
            (id(fields), key): (owner, fields, key, fields.get(key, MISSING))
            for owner, fields, key, _ in self.path.journal[mark:]
        }

    def touched_older(self, mark: int, born: int) -> bool:
        """Tell whether anything written since `mark` belongs to an object that was there before `born`."""
        return any(owner.born < born for owner, _, _, _ in self.path.journal[mark:])

    def before(self, owner: Any, key: Any) -> Any:
        """Return the write that gave `key` of `owner` its value; where calls are traced, a default counts as one."""
        write = owner.writes.get(key)
        if self.tracing and write is None and isinstance(owner, Instance) and owner.made and key in owner.fields:
            return owner.made._replace(value=owner.fields[key])
        return write

    def note(
        self,
        node: ast.AST | Origin | None,
        frame: Frame,
        focus: ast.AST | Write | None,
        how: str,
        value: Object,
        earlier: Any,
    ) -> Write:
        """Record a write that happens now. `focus` is the expression that gives the value, or the write that it was
        handed on from.
        """
        module = frame.module
        sources: tuple[TextPlace, ...] = ()
        if isinstance(focus, Write):
            sources = handed_on(focus)
            focus = focus.place_in(module)
        elif focus is not None and type(focus) is not ast.Constant:
            sources = self.sources(focus, value, frame)
        if module.written:
            place, frame = told_at(None if isinstance(node, Origin) else node, frame)
            focus = None
            node = node if isinstance(node, Origin) else place
            module = frame.module
        self.clock += 1
        # (Made without the checks of `Write(…)`: a write is noted for every setting of every recipe.)
        return _write(
            Write,
            (
                module,
                node,
                focus,
                frame.function,
                how,
                value,
                self.clock,
                earlier if type(earlier) is Write else None,
                calls_to(frame) if self.tracing else (),
                sources,
            ),
        )

    def tell_pieces(self, whole: Object | Sequence[Object], writes: Sequence[Write | None]) -> None:
        """Keep who wrote the elements of a tuple, or of the Python list in a list; neither is ever changed in place."""
        if len(self.pieces) > self._most_pieces:
            self._forget_pieces()
        self.pieces[id(whole)] = whole, writes

    def _forget_pieces(self) -> None:
        """Forget who wrote the elements of what nobody but this record has any more; of all, where that is too much."""
        while gone := [key for key, piece in self.pieces.items() if sys.getrefcount(piece[0]) == _ONLY_HERE]:
            for key in gone:
                del self.pieces[key]
        if len(self.pieces) > _MOST_PIECES:
            self.pieces.clear()
        self._most_pieces = min(max(_FEW_PIECES, 2 * len(self.pieces)), _MOST_PIECES)

    def writers(self, whole: Object | Sequence[Object]) -> Sequence[Write | None]:
        """Return who wrote the elements of a tuple or list; none where nobody told."""
        whole = whole.items if isinstance(whole, ListObject) else whole
        known, writes = self.pieces.get(id(whole), (None, ()))
        return writes if known is whole else ()

    def piece(self, whole: Object, key: Object) -> Write | None:
        """Return the write of an element of a tuple or list; None where it is not known."""
        writes = self.writers(whole)
        return writes[key] if isinstance(key, int) and -len(writes) <= key < len(writes) else None

    def tell_joined(self, whole: Sequence[Object], *parts: Sequence[Object]) -> None:
        """Keep who wrote the elements of sequences, one after the other, for the sequence that is made of them."""
        writes = [write for part in parts for write in (self.writers(part) or [None] * len(part))]
        if any(writes):
            self.tell_pieces(whole, writes)

    def started_with(self) -> tuple[GivenWord, ...] | None:
        """Return the words that the program gets, from whoever starts it or itself; None where nobody gives any."""
        self.dependencies.asks_start = True
        own = given_words(self.path.environment, self.settle, self.finder.sources)
        return own if own is not None or self.given is None else self.given.words

    @property
    def is_started(self) -> bool:
        """Tell whether a question about the program's start has an answer of its own here."""
        return bool(self.given or self.path.environment.fields)

    def switch(self, path: str, option: str) -> bool:
        """Record an option of a file's command line that is off by default; tell whether it is given now."""
        self.switches.setdefault(path, {})[option] = None
        return option in self.turned_on

    def sources(self, node: Any, value: Object, frame: Frame) -> tuple[TextPlace, ...]:
        """Return the texts that the expression of a written value has it from, the nearest first."""
        if not isinstance(value, FOLLOWED):
            return ()
        if isinstance(node, Origin):
            return ((frame.module, node, frame.function),)
        self.looks = LOOKS
        found = trace(self, Text(node, frame))
        if any(each[0].written for each in found):
            found = tuple([each for each in found if not each[0].written])
        said = value.said if type(value) is Option else None
        return found if said is None or said in found else (*found, said)

    def forgetting(self, value: Object) -> None:
        """Notice a value that is about to be forgotten (see forget_reachable): for interpreters that watch it."""

    def out_of_sight(self, name: str, call: object) -> None:
        """Notice a call of code that is not at hand: for interpreters that ask for what it may start."""

    def starting(self, command: Command, instead_of: Command | None = None) -> None:
        """Notice a program that is started: for interpreters that ask for such programs. It may take the place of one
        that was taken to be started otherwise.
        """

    def may_start(self, value: Object) -> bool:
        """Tell whether calling a value may start a program that this interpreter asks for."""
        return False

    def word_not_given(self, number: int) -> Object:
        """Return a word of the command line that a program asks for, where nobody gives any."""
        for name, value in self.chosen:
            if name == number:
                return value
        if number not in self.words:
            self.words[number] = self.unknown(f"sys.argv[{number}]", not_none=True)
        return self.words[number]

    file_chooser: Callable[[Any, Object, Frame], Object] | None = None
    """The function that tries files of the tree for paths that are not known, if any does."""

    @property
    def tries_files(self) -> bool:
        """Tell whether files of the tree are tried for paths that are not known."""
        return self.file_chooser is not None

    def file_meant(self, path: Object, frame: Frame) -> Object:
        """Return the file that an unknown path means on this path, where files of the tree are tried."""
        return path if self.file_chooser is None else self.file_chooser(self, path, frame)

    def key_of_row(self, holder: Object, key: Object, node: Any, frame: Frame) -> Object:
        """Return the key of the row of a table that is meant on this path: for interpreters that tell rows apart."""
        return key

    # -- what is known --------------------------------------------------------------------------------------------

    def unknown(self, text: str = "", not_none: bool = False, obstacle: TextPlace | None = None) -> Unknown:
        """Make a fresh value of which nothing is known; its source may as well have raised."""
        self.doubts += 1
        return Unknown(self.tick(), text, not_none, obstacle or self.obstacle)

    def learn(self, kind: str, subject: Object, value: Object) -> None:
        """Remember on this path what was decided about an unknown value."""
        facts = self.path.facts
        key = kind, id(subject)
        facts.kept[key[1]] = subject
        if getattr(subject, "born", 0) <= self.path.started:
            facts.open.append(key)
        self.put(facts, key, value)

    def settle(self, value: Object) -> Object:
        """Return the value that `value` turned out to be on this path, if that was decided."""
        if type(value) is Choice:
            return self._selected(value) if value.is_selection and self.path.facts.fields else value
        if isinstance(value, Unknown):
            facts = self.path.facts.fields
            known = facts.get(("is", id(value)), MISSING) if facts else MISSING
            if known is not MISSING:
                return known
            if type(value) is Option and value.default is not MISSING and not (self.needed and value.default is None):
                return value.default
            if COPY_OF in value.fields:
                original = value.fields[COPY_OF]
                settled = self.settle(original)
                return value if settled is original else settled
        return value

    def _selected(self, choice: Choice) -> Object:
        """Return the options of a selection left on this path, by decisions about it or the whole it is part of."""
        if choice.by is not None:
            key, _, keys = choice.by
            rows = zip(keys, choice.options, strict=True)
            known = self.settle(key)
            row = next((row for each, row in rows if any(identical(one, known) for one in each)), MISSING)
            if row is not MISSING:
                return row
        whole = None if choice.of is None else self.settle(choice.of[0])
        known = self.path.facts.fields.get(("is", id(choice)), MISSING)
        if known is not MISSING and (choice.of is None or type(whole) is Choice):
            return self.settle(known)
        if choice.of is None or whole is choice.of[0]:
            return choice
        left = whole.options if type(whole) is Choice else (whole,)
        kept: list[Object] = []
        for option, value in zip(choice.of[0].options, choice.of[1], strict=True):
            is_left = value is not MISSING and any(identical(option, each) for each in left)
            if is_left and not any(identical(value, each) for each in kept):
                kept.append(value)
        return kept[0] if len(kept) == 1 else Choice(tuple(kept)) if kept else choice


_NOT_ASKED: Any = object()

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
Question = Callable[Concatenate[Interpreter, Parameters], Answer]


def remembered(meanwhile: Any = MISSING) -> Callable[[Question[Parameters, Answer]], Question[Parameters, Answer]]:
    """Make an interpreter remember what a function of it and of the other arguments gives.

    `meanwhile` is the answer while it is worked out: code that leads back to itself adds nothing.
    """

    def decorate(function: Question[Parameters, Answer]) -> Question[Parameters, Answer]:
        @wraps(function)
        def ask(interp: Interpreter, /, *args: Parameters.args, **keywords: Parameters.kwargs) -> Answer:
            key = (function, args, *keywords.items())
            found: Answer = interp.memo.get(key, _NOT_ASKED)
            if found is _NOT_ASKED:
                if meanwhile is not MISSING:
                    interp.memo[key] = meanwhile
                found = interp.memo[key] = function(interp, *args, **keywords)
            return found

        return ask

    return decorate
