"""The machine: the state that all parts of the evaluator share.

All changes go through `Machine.put`, so that any of them can be undone: branches that cannot be decided are tried one
after the other, every recipe starts from untouched modules, and a helper call is only remembered when it changed
nothing that it did not make itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.readers.given_words import Given, GivenWord
from mfsdp_lint.readers.python.state.commands import Command
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.outcomes import OutOfSteps
from mfsdp_lint.readers.python.state.paths import PATIENCE, ExecutionPath, Facts, Place
from mfsdp_lint.readers.python.state.started import environment
from mfsdp_lint.readers.python.state.texts import LOOKS, Text, trace
from mfsdp_lint.readers.python.values.frames import Frame, calls_to, told_at
from mfsdp_lint.readers.python.values.markers import COPY_OF
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    DictObject,
    EnumMember,
    Function,
    Instance,
    ListObject,
    Object,
    Option,
    Unknown,
    Write,
)
from mfsdp_lint.readers.python.values.objects import (
    Place as TextPlace,
)

_FOLLOWED = (*CONSTANTS, tuple, ListObject, EnumMember, Option)
"""The kinds of values that somebody wants to know the source of."""


_write: Callable[[type[Write], tuple[Any, ...]], Write] = tuple.__new__


class Machine:
    """What is known at a moment of an evaluation; `path` is the execution path that it is on.

    `nemo` gives what makes settings of a run of NeMo (readers/nemo.py).
    `memo` is what was worked out once for all paths. `called` are the functions that ran.
    `volatile` are the names of class attributes that the program itself writes; all others are looked up once a class.
    `variables` are the variables of the process environment that programs asked for (`asked_environment` times);
    `asked_start` counts who asked for one of them, or for the words of the command line.
    `switches` are the options of command lines that turn something on, by the files that declare options; those that
    are `turned_on` are given on trial, and those without a default while they are `needed`. `doubts` counts what may
    not have happened as it was taken to, `unfollowed` the calls of code out of sight.
    `given` is what the program is started with, where that is known.
    `converted` are the functions in which a call of a class is a task for it (`nemo_run.autoconvert`).
    `patience` is how many steps may pass before an entry point makes or changes a configuration.
    `returned` is the call that returned last, with the expression that said what and the frame of that; `yielded` the
    expression of the element that a generator gave last. `forwarding` are the functions that write what their callers
    say (`crossings` counts how often one was seen to). `looks` is what may still be looked at for one value's source.
    `gave` is the object that each call gave last. `called_aside` are the functions that were called for what is shared.
    """

    def __init__(self, finder: ModuleFinder, knowledge: Any = None, tracing: bool = False, nemo: Any = None) -> None:
        self.finder = finder
        self.knowledge = knowledge
        self.nemo = nemo
        self.tracing = tracing
        self.memo: dict[Any, Any] = {}
        self.called: set[Function] = set()
        self.called_aside: set[Function] = set()
        self.clock = 0
        self.module_level = 0
        self.skimming = 0
        self.volatile: set[str] = set()
        self.variables: dict[str, Unknown] = {}
        self.asked_environment = 0
        self.asked_start = 0
        self.switches: dict[str, dict[str, None]] = {}
        self.turned_on: frozenset[str] = frozenset()
        self.needed = False
        self.given: Given | None = None
        self.converted: set[tuple[Module, str]] = set()
        self.patience = PATIENCE
        self.unfollowed = 0
        self.doubts = 0
        self.returned: tuple[Any, Any, Frame] | None = None
        self.yielded: Text | None = None
        self.crossings = 0
        self.forwarding: set[Function] = set()
        self.looks = 0
        self.gave: dict[ast.Call, Object] = {}
        self.suspect: Write | None = None
        """The call that is about to make everything within its reach unknown; told where calls are traced."""
        self.path = ExecutionPath((), 0, DictObject({}, 0))
        self.begin(())

    # -- execution paths ------------------------------------------------------------------------------------------

    def begin(self, decisions: tuple[bool, ...]) -> None:
        """Start one path through an entry point, taking the given sides of its first undecided branches (the first
        path takes none of them).
        """
        self.finish()
        before, started = self.path, self.clock
        self.path = ExecutionPath(decisions, started, environment(self.given, self.tick))
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

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Outside of any path for a while: what is made then is shared, and nothing undoes it."""
        outer, called = self.path, self.called
        self.path, self.called = outer.aside(), set()
        self.module_level += 1
        try:
            yield
        finally:
            self.module_level -= 1
            self.path = outer
            # Who comes later finds it made, and calls nothing.
            self.called_aside |= self.called
            called |= self.called
            self.called = called

    @contextmanager
    def knowing(self, facts: Facts) -> Iterator[None]:
        """Back to what was decided on a path that has ended, for a question about what it yielded."""
        path = self.path
        now, path.facts = path.facts, facts
        try:
            yield
        finally:
            path.facts = now

    def tick(self) -> int:
        """The time of birth of a new object: larger than any before; negative for what modules share."""
        self.clock += 1
        return -self.clock if self.module_level else self.clock

    def step(self) -> None:
        """Count one statement, call or turn of a loop; raises OutOfSteps past the limit."""
        path = self.path
        path.steps += 1
        if path.steps > path.limit:
            raise OutOfSteps

    def found_configuration(self) -> None:
        """A configuration was made, or a setting of one from outside was written: the rest is worth following."""
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

    def record(self, owner: Any, key: Any, write: Any) -> None:
        """Remember who wrote `key` of `owner`."""
        self.place(owner, owner.writes, key, write)

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
        """The state of every place written since `mark`, by place."""
        return {
            (id(fields), key): (owner, fields, key, fields.get(key, MISSING))
            for owner, fields, key, _ in self.path.journal[mark:]
        }

    def touched_older(self, mark: int, born: int) -> bool:
        """Whether anything written since `mark` belongs to an object that was there before `born`."""
        return any(owner.born < born for owner, _, _, _ in self.path.journal[mark:])

    def before(self, owner: Any, key: Any) -> Any:
        """The write that made `key` of `owner` what it is; where calls are traced, a default counts as one."""
        write = owner.writes.get(key)
        if self.tracing and write is None and isinstance(owner, Instance) and owner.made and key in owner.fields:
            return owner.made._replace(value=owner.fields[key])
        return write

    def note(
        self, node: ast.AST | None, frame: Frame, focus: ast.AST | None, how: str, value: Object, earlier: Any
    ) -> Write:
        """The record of a write that happens now."""
        module = frame.module
        if module.written:
            node, focus, frame = told_at(node, focus, frame)
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
                () if focus is None or type(focus) is ast.Constant else self.sources(focus, value, frame),
            ),
        )

    def started_with(self) -> tuple[GivenWord, ...] | None:
        """The words that the program is started with, where somebody starts it."""
        self.asked_start += 1
        return None if self.given is None else self.given.words

    @property
    def is_started(self) -> bool:
        """Whether what asks how the program is started has an answer of its own here (`asked_start`)."""
        return bool(self.given or self.path.environment.fields)

    def switch(self, path: str, option: str) -> bool:
        """An option of a command line that is off by default, declared in a file: whether it is given now."""
        self.switches.setdefault(path, {})[option] = None
        return option in self.turned_on

    def sources(self, node: Any, value: Object, frame: Frame) -> tuple[TextPlace, ...]:
        """The texts that the expression of a written value has it from, the nearest first."""
        if not isinstance(value, _FOLLOWED):
            return ()
        if isinstance(node, Origin):
            return ((frame.module, node, frame.function),)
        self.looks = LOOKS
        found = trace(self, Text(node, frame))
        said = value.said if type(value) is Option else None
        return found if said is None or said in found else (*found, said)

    def forgetting(self, value: Object) -> None:
        """Told of all that is about to be forgotten (see havoc): for machines that watch it."""

    def starting(self, command: Command) -> None:
        """Told of every program that is started: for machines that ask for them."""

    # -- what is known --------------------------------------------------------------------------------------------

    def unknown(self, text: str = "", not_none: bool = False) -> Unknown:
        """A fresh value of which nothing is known; what gave it may as well have raised."""
        self.doubts += 1
        return Unknown(self.tick(), text, not_none)

    def learn(self, kind: str, subject: Object, value: Object) -> None:
        """Remember on this path what was decided about an unknown value."""
        facts = self.path.facts
        facts.kept.append(subject)
        self.put(facts, (kind, id(subject)), value)

    def settle(self, value: Object) -> Object:
        """What `value` turned out to be on this path, if that was decided."""
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
