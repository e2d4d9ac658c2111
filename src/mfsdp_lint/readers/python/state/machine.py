"""The state of one evaluation: what was written, what was decided, how much was done.

All changes go through `Machine.put`, so that any of them can be undone: branches that cannot be decided are tried one
after the other, every recipe starts from untouched modules, and a helper call is only remembered when it changed
nothing that it did not make itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.objects import (
    EITHER,
    MISSING,
    Bound,
    Choice,
    DictObject,
    EnumMember,
    External,
    Function,
    Instance,
    ListObject,
    Object,
    Option,
    Partial,
    Unknown,
    Write,
    is_constant,
)

STEP_LIMIT = 80_000
"""Steps of all ways through an entry point."""
PATIENCE = 1_000
"""Those of them that may pass before it makes or changes any configuration (the recipe or script of six releases that
takes longest takes 375). Training code, tests and tools are full of functions that never do."""
MODULE_STEPS = 40_000
"""Steps of what recipes share: the top level of a module, a decorated definition, the provider of a model."""
DEPTH_LIMIT = 60
LOCAL_WAYS = 8
FORK_LIMIT = 3
FORCED_FORK_LIMIT = 6
CHOICE_LIMIT = 12
OBJECT_LIMIT = 64
NEVER_OLD = 1 << 62
HAZY = "<hazy>"
"""Key under `writes` of an object that something out of sight may have changed."""
STRAY = "<stray>"
"""Key under `writes` of a dictionary: the objects that were stored under keys that are not known."""


COPY_OF = "<copy of>"
"""Key under `fields` of a copy of an unknown value: that value. As far as it was a constant, both are the same."""

IDENTITY = frozenset((EITHER, COPY_OF, "<about>", "<equal>", "<alike>", "<not of>"))
"""Keys under `fields` of an unknown value that say what it is, and not what it holds."""

SHARED = frozenset((str, int, float, bool, type(None), bytes, Function, EnumMember, External, Option))
"""Kinds of values that a copy of an object shares with it."""


class Raised(Exception):
    """The evaluated program raises here."""

    def __init__(self, name: str, text: str = "") -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.value: Object = None


class OutOfSteps(Exception):
    """The evaluation was longer than a recipe can be; nothing is known of it."""


class CannotMerge(Exception):
    """Two sides of an undecided branch leave the block in different ways."""


class LocalWay:
    """One way through the body of one call, where the ways are joined when the call returns."""

    __slots__ = ("prefix", "taken")

    def __init__(self, prefix: tuple[bool, ...]) -> None:
        self.prefix = prefix
        self.taken: list[bool] = []

    def next(self) -> bool:
        """The side to take of the next branch."""
        position = len(self.taken)
        self.taken.append(self.prefix[position] if position < len(self.prefix) else True)
        return self.taken[-1]


class _Facts:
    """What was decided about unknown values on this way through the program."""

    __slots__ = ("born", "fields", "kept")

    def __init__(self) -> None:
        self.fields: dict[Any, Object] = {}
        self.kept: list[Object] = []
        self.born = NEVER_OLD


Place = tuple[Any, dict[Any, Any], Any, Any]
"""Who owns it, the fields it is one of, its key there, and a value: the one it had before, has, or had in passing."""


class Machine:
    """The state that all parts of the evaluator share.

    `limit` is how many `steps` there may be now.
    `volatile` are the names of class attributes that the program itself writes; all others are looked up once a class.
    `variables` are the variables of the process environment that programs asked for (`asked_environment` times);
    `changed_shared` says that this way changed something that modules share, so that helpers may do other than before.
    """

    def __init__(self, finder: ModuleFinder, knowledge: Any = None, tracing: bool = False) -> None:
        self.finder = finder
        self.knowledge = knowledge
        self.tracing = tracing
        self.journal: list[Place] = []
        self.memory: dict[Any, Any] = {}
        self.upstream_modules: dict[str, Any] = {}
        self.called: set[Function] = set()
        self.overrides: dict[str, Object] = {}
        self.clock = 0
        self.module_level = 0
        self.skimming = 0
        self.volatile: set[str] = set()
        self.variables: dict[str, Unknown] = {}
        self.asked_environment = 0
        self.unfollowed = 0
        self.doubts = 0
        self.written: list[Place] | None = None
        """Inside the body of a `try`: all that was written there, on whichever way."""
        self.suspect: Write | None = None
        """The call that is about to make everything within its reach unknown; told where calls are traced."""
        self.started = 0
        self.begin(())

    # -- one way through a program --------------------------------------------------------------------------------

    def begin(self, decisions: tuple[bool, ...]) -> None:
        """Start one way through an entry point, taking the given sides of its first undecided branches (the first way
        takes none of them).
        """
        self.finish()
        if not decisions:
            self.steps = 0
            self.limit = PATIENCE
        self.started = self.clock
        self.decisions = decisions
        self.taken: list[tuple[bool, str]] = []
        self.facts = _Facts()
        self.environment = DictObject({}, self.tick())
        self.launched: list[tuple[Object, Object]] = []
        self.depth = 0
        self.changed_shared = False
        self.trial = 0
        self.local: LocalWay | None = None

    def finish(self) -> None:
        """End one way through a program: what it changed of shared objects is undone, what it made stays as it is."""
        journal = self.journal
        while journal:
            owner, fields, key, old = journal.pop()
            if owner.born <= self.started:
                if old is MISSING:
                    fields.pop(key, None)
                else:
                    fields[key] = old

    def tick(self) -> int:
        """The time of birth of a new object: larger than any before; negative for what modules share."""
        self.clock += 1
        return -self.clock if self.module_level else self.clock

    def step(self) -> None:
        """Count one statement, call or turn of a loop; raises OutOfSteps past the limit."""
        self.steps += 1
        if self.steps > self.limit:
            raise OutOfSteps

    def found_configuration(self) -> None:
        """A configuration was made, or a setting of one from outside was written: the rest is worth following."""
        self.limit = STEP_LIMIT

    def charge(self, length: int) -> None:
        """Count the work of going through so many elements."""
        if length > 64:
            self.steps += length >> 5

    # -- writing and undoing --------------------------------------------------------------------------------------

    def place(self, owner: Any, fields: dict[Any, Any], key: Any, value: Any) -> None:
        """Write one of the fields of `owner`, so that it can be undone."""
        self.journal.append((owner, fields, key, fields.get(key, MISSING)))
        fields[key] = value
        if self.written is not None:
            self.written.append((owner, fields, key, value))

    def put(self, owner: Any, key: Any, value: Object) -> None:
        """Write one attribute, entry or local name of `owner`."""
        self.place(owner, owner.fields, key, value)
        if owner.born <= self.started:
            self.changed_shared = True

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
        journal = self.journal
        while len(journal) > mark:
            _, fields, key, old = journal.pop()
            if old is MISSING:
                fields.pop(key, None)
            else:
                fields[key] = old

    def changes(self, mark: int) -> dict[tuple[int, Any], Place]:
        """The state of every place written since `mark`, by place."""
        found = {}
        for owner, fields, key, _ in self.journal[mark:]:
            found[(id(fields), key)] = (owner, fields, key, fields.get(key, MISSING))
        return found

    def touched_older(self, mark: int, born: int) -> bool:
        """Whether anything written since `mark` belongs to an object that was there before `born`."""
        return any(owner.born < born for owner, _, _, _ in self.journal[mark:])

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
        frames = _calls(frame) if self.tracing else ()
        self.clock += 1
        return Write(
            frame.module,
            node,
            focus,
            frame.function,
            how,
            value,
            self.clock,
            earlier if isinstance(earlier, Write) else None,
            frames,
        )

    # -- what is known --------------------------------------------------------------------------------------------

    def unknown(self, text: str = "", not_none: bool = False) -> Unknown:
        """A fresh value of which nothing is known; what gave it may as well have raised."""
        self.doubts += 1
        return Unknown(self.tick(), text, not_none)

    def learn(self, kind: str, subject: Object, value: Object) -> None:
        """Remember on this way what was decided about an unknown value."""
        # Facts go by the subject's number, which is its own only for as long as the subject lives.
        self.facts.kept.append(subject)
        self.put(self.facts, (kind, id(subject)), value)

    def settle(self, value: Object) -> Object:
        """What `value` turned out to be on this way, if that was decided."""
        if isinstance(value, Unknown):
            known = self.facts.fields.get(("is", id(value)), MISSING)
            if known is not MISSING:
                return known
            if type(value) is Option and value.default is not MISSING:
                return value.default
            if COPY_OF in value.fields:
                original = value.fields[COPY_OF]
                settled = self.settle(original)
                return value if settled is original else settled
        return value

    def havoc(self, value: Object, seen: set[int] | None = None) -> None:
        """Forget what `value` and everything reachable from it holds: something out of sight may have changed it."""
        seen = set() if seen is None else seen
        if id(value) in seen or isinstance(value, (str, int, float, type(None))):
            return
        seen.add(id(value))
        match value:
            case Instance() | DictObject():
                self.record(value, HAZY, True)
                for item in value.writes.get(STRAY, ()):
                    self.havoc(item, seen)
                for key, item in list(value.fields.items()):
                    self.havoc(item, seen)
                    if not isinstance(item, (Instance, DictObject, ListObject)):
                        before = self.before(value, key)
                        self.put(value, key, self.unknown(str(key)))
                        if self.suspect is not None:
                            self.record(value, key, self.suspect._replace(earlier=before, value=value.fields[key]))
            case ListObject():
                for item in value.items or []:
                    self.havoc(item, seen)
                self.put(value, "items", None)
            case Unknown():
                for one in value.fields.get(EITHER, ()):
                    self.havoc(one, seen)
                for key, part in list(value.fields.items()):
                    if key not in IDENTITY:
                        if isinstance(part, (Unknown, DictObject)) and part.writes:
                            # What was written is forgotten, but not that something was.
                            self.record(value, key, next(iter(part.writes.values())))
                        self.drop(value, key)
            case Choice(options=options):
                for option in options:
                    self.havoc(option, seen)
            case tuple():
                for item in value:
                    self.havoc(item, seen)
            case Bound(owner=owner):
                self.havoc(owner, seen)
            case Partial(arguments=arguments, keywords=keywords, function=function):
                for item in (*arguments, *keywords.values(), function):
                    self.havoc(item, seen)
            case Function(closure=Frame(), defaults=defaults):
                # It may be called, and write what it closes over.
                for item in (*defaults.values(), *_closed_over(value)):
                    if isinstance(item, (Instance, DictObject, ListObject, Unknown, Choice, Function)):
                        self.havoc(item, seen)

    # -- copies ---------------------------------------------------------------------------------------------------

    def copy(self, value: Object, copies: dict[int, Object] | None = None) -> Object:
        """A deep copy: new objects with the same contents and the same writes."""
        kind = type(value)
        if kind in SHARED:
            return value
        copies = {} if copies is None else copies
        known = copies.get(id(value))
        if known is not None:
            return known
        result: Any
        if kind is Instance:
            result = Instance(value.cls, self.tick(), value.made)
        elif kind is DictObject:
            result = DictObject({}, self.tick())
            result.made = value.made
        elif kind is Unknown:
            not_none = value.not_none or self.facts.fields.get(("not none", id(value))) is True
            result = Unknown(self.tick(), value.text, not_none)
            if not value.fields:
                result.fields[COPY_OF] = value
                copies[id(value)] = result
                return result
        elif isinstance(value, ListObject):
            result = kind([], self.tick())
            copies[id(value)] = result
            items = value.items
            result.fields["items"] = items if items is None else [self.copy(item, copies) for item in items]
            return result
        elif kind is tuple and not is_constant(value):
            return tuple(self.copy(item, copies) for item in value)
        elif kind is Choice:
            return Choice(tuple(self.copy(option, copies) for option in value.options))
        else:
            return value
        copies[id(value)] = result
        result.writes = value.writes.copy()
        fields = value.fields.copy()
        for key, item in fields.items():
            if type(item) not in SHARED:
                fields[key] = self.copy(item, copies)
        result.fields = fields
        return result


def _closed_over(function: Function) -> Iterator[Object]:
    """What a function finds in those around it, by the names in its code."""
    names = {inner.id for inner in ast.walk(function.node) if isinstance(inner, ast.Name)}
    here: Frame | None = function.closure
    while here is not None:
        yield from (here.fields[name] for name in names if name in here.fields)
        here = here.enclosing


def _calls(frame: Frame) -> tuple[Any, ...]:
    """The calls that led to a frame, the last one first: in which module and function, and the node that calls."""
    here: Frame | None = frame
    chain = []
    while here is not None and here.node is not None and here.caller is not None:
        chain.append((here.caller.module, here.node, here.caller.function))
        here = here.caller
    return tuple(chain)


class Template:
    """A value as it is now, ready to be made again many times; what is older than it is shared, not copied."""

    __slots__ = ("fields", "items", "parts", "shared", "value", "writes")

    def __init__(self, value: Object, since: int, known: dict[int, Template]) -> None:
        known[id(value)] = self
        self.value = value
        self.shared = not own(value, since)
        self.parts: list[tuple[Any, Template]] = []
        if self.shared:
            return
        if isinstance(value, (tuple, Choice)):
            items = value.options if isinstance(value, Choice) else value
            self.parts = [(None, template(item, since, known)) for item in items]
        elif isinstance(value, ListObject):
            self.items = value.items
            if self.items is not None and any(own(item, since) for item in self.items):
                self.parts = [(None, template(item, since, known)) for item in self.items]
        else:
            self.fields = value.fields.copy()
            self.writes = value.writes.copy()
            for key, item in self.fields.items():
                if type(item) not in SHARED and own(item, since):
                    self.parts.append((key, template(item, since, known)))

    def make(self, machine: Machine, copies: dict[int, Object]) -> Object:
        """The value once more; `copies` holds what was made already, so that shared parts stay shared."""
        value = self.value
        if self.shared:
            return value
        known = copies.get(id(self))
        if known is not None:
            return known
        kind = type(value)
        if kind is tuple:
            return tuple([part.make(machine, copies) for _, part in self.parts])
        if kind is Choice:
            return Choice(tuple([part.make(machine, copies) for _, part in self.parts]))
        made: Any
        if isinstance(value, ListObject):
            made = copies[id(self)] = type(value)(self.items, machine.tick())
            if self.parts:
                made.fields["items"] = [part.make(machine, copies) for _, part in self.parts]
            return made
        if kind is Instance:
            made = Instance(value.cls, machine.tick(), value.made)
        elif kind is DictObject:
            made = DictObject({}, machine.tick())
            made.made = value.made
        else:
            made = Unknown(machine.tick(), value.text, value.not_none)
        copies[id(self)] = made
        made.fields = fields = self.fields.copy()
        made.writes = self.writes.copy()
        for key, part in self.parts:
            fields[key] = part.make(machine, copies)
        return made


def template(value: Object, since: int = 0, known: dict[int, Template] | None = None) -> Template:
    """A template of a value: objects made after `since` are made anew each time, older ones are shared."""
    known = {} if known is None else known
    return known.get(id(value)) or Template(value, since, known)


def own(value: Object, since: int) -> bool:
    """Whether a value has to be made anew: it is, or holds, an object that is not older than `since`."""
    if type(value) in SHARED:
        return False
    if isinstance(value, (Choice, tuple)):
        return any(own(item, since) for item in (value.options if isinstance(value, Choice) else value))
    return isinstance(value, (Instance, DictObject, ListObject, Unknown)) and abs(value.born) >= since


def join(machine: Machine, values: list[Object]) -> Object:
    """A value that may be any of `values`."""
    given = [option for value in values for option in (value.options if type(value) is Choice else (value,))]
    options: list[Object] = []
    for option in given:
        for known in options:
            if option is known or identical(option, known):
                break
        else:
            options.append(option)
            if len(options) > CHOICE_LIMIT and (len(options) > OBJECT_LIMIT or not any(map(is_object, options))):
                for one in given:
                    machine.havoc(one)
                return machine.unknown("", all(option is not None and option is not MISSING for option in given))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def is_object(value: Object) -> bool:
    """Whether a value is known to have attributes of its own, which may be written."""
    return isinstance(value, Instance) or (isinstance(value, Unknown) and not IDENTITY.issuperset(value.fields))


def identical(left: Object, right: Object) -> bool:
    """The same value: the same object, or equal constants of one type."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, (str, int, float, bytes, bool)):
        return bool(left == right)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    return type(left).__name__ in ("External", "frozenset") and bool(left == right)
