"""Calls with unknown arguments that are repeated: the turns of a loop, the sides of a branch and the paths through a
program call the same helper again with another value of which nothing is known either.

Such a call is given its earlier outcome where that can only differ in which unknown values it is made of: it changed
and decided nothing outside of itself, nothing was asked of its arguments, and the way in which branches are followed is
the same. It takes the same steps again, so that limits are met where they were.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.state.calling import Coroutine, GeneratorCall
from mfsdp_lint.readers.python.state.copies import Template, own, template
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import FORK_LIMIT, Dependencies, ExecutionPath, Facts
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import UNKNOWN_KEYS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Object,
    Place,
    SetObject,
    Unknown,
    is_constant,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: its result, the texts that decided it, and what it cost."""

    result: Template
    places: tuple[Place, ...] | None
    dependencies: Dependencies
    depth: int
    steps: int
    doubts: int
    unfollowed: int

    def fits(self, interp: Interpreter, call: Call) -> bool:
        """Tell whether the call has this outcome here: it neither meets a limit nor calls a function that called it."""
        path = interp.path
        if path.depth > self.depth or path.steps + self.steps > path.limit:
            return False
        return not _is_called_by(call, self.dependencies)

    def again(self, interp: Interpreter, call: Call) -> Object:
        """Return the result of the call, made anew, and record what the call would."""
        interp.path.steps += self.steps
        interp.doubts += self.doubts
        interp.unfollowed += self.unfollowed
        interp.dependencies.add(self.dependencies)
        interp.returned = None if self.places is None else (call.node, self.places)
        made: Object = self.result.make(interp, {})
        return made


class CallRecord:
    """A call that is about to be followed, and the state that it begins in."""

    def __init__(self, interp: Interpreter, call: Call, key: Hashable) -> None:
        path = interp.path
        self.call = call
        self.key = key
        self.mark = len(path.journal)
        self.forks = len(path.taken)
        self.born = interp.clock + 1
        self.limit = path.limit
        self.steps = path.steps
        self.doubts = interp.doubts
        self.unfollowed = interp.unfollowed
        self.crossings = interp.crossings

    def is_outcome(self, interp: Interpreter, result: Object, dependencies: Dependencies) -> bool:
        """Tell whether another call like this one, which has just returned, can only have the same outcome."""
        path, parts = interp.path, set[int]()
        return not (
            len(path.taken) != self.forks
            or path.limit != self.limit
            or interp.crossings != self.crossings
            or dependencies.depends_on_start
            or not _is_open(interp)
            or isinstance(result, (GeneratorCall, Coroutine, Choice))
            or is_container(interp, result)
            or not all(_is_fresh(interp, each) for each in self.call.values if type(each) is Unknown)
            or not _is_made_here(result, self.born, parts)
            or not self._stays_within(path, parts)
            or _is_called_by(self.call, dependencies)
        )

    def _stays_within(self, path: ExecutionPath, parts: set[int]) -> bool:
        """Tell whether the call wrote to nothing but what it made, and decided nothing about `parts` of its result."""
        for owner, _, key, _ in path.journal[self.mark :]:
            if owner is path.facts:
                owner = None if key[1] in parts else path.facts.kept.get(key[1])
            if getattr(owner, "born", 0) < self.born:
                return False
        return True

    def keep(
        self, interp: Interpreter, result: Object, places: tuple[Place, ...] | None, dependencies: Dependencies
    ) -> None:
        """Keep the outcome for calls like this one."""
        interp.called[self.key] = Outcome(
            template(result, self.born),
            places,
            dependencies,
            interp.path.depth,
            interp.path.steps - self.steps,
            interp.doubts - self.doubts,
            interp.unfollowed - self.unfollowed,
        )


def repeated(interp: Interpreter, function: Function, call: Call) -> Hashable:
    """Return what calls with the same outcome have in common; None where a call has to be followed by itself."""
    path = interp.path
    if function.closure is not None or not any(type(each) is Unknown for each in call.values) or not _is_open(interp):
        return None
    unknown: dict[int, int] = {}
    said: list[Hashable] = []
    for name, value in (*enumerate(call.arguments), *call.keywords.items()):
        if type(value) is Unknown:
            if not _is_fresh(interp, value):
                return None
            number = unknown.setdefault(id(value), len(unknown))
            said.append((name, Unknown, number, value.text, value.not_none, value.obstacle))
        elif _is_the_same_anywhere(value):
            said.append((name, type(value), value))
        else:
            return None
    is_joined = bool(path.trial) or len(path.taken) >= FORK_LIMIT or not function.module.is_project
    found_one = path.limit >= path.budget
    return repeated, function, interp.entry, interp.obstacle, is_joined, found_one, tuple(said)


def _is_open(interp: Interpreter) -> bool:
    """Tell whether a function finds everything outside of its call as any other call does."""
    path = interp.path
    return not (
        interp.module_level
        or interp.tracing
        or interp.turned_on
        or interp.needed
        or interp.chosen
        or interp.file_chooser
        or interp.skimming
        or interp.suspect is not None
        or interp.affected
        or path.changed_shared
        or path.given_up
        or path.written is not None
        or _decides_elsewhere(path.facts)
    )


def _decides_elsewhere(facts: Facts) -> bool:
    """Tell whether something is decided that a helper may meet without being given it."""
    if facts.open:
        facts.open[:] = [each for each in facts.open if each in facts.fields]  # the others were undone
    return bool(facts.open)


def _is_fresh(interp: Interpreter, value: Unknown) -> bool:
    """Tell whether nothing was read from an unknown value, written to it, or decided about it."""
    return not (value.fields or value.writes or id(value) in interp.path.facts.kept)


def _is_the_same_anywhere(value: Object) -> bool:
    if isinstance(value, Function):
        return value.closure is None
    return value is MISSING or is_constant(value) or isinstance(value, (ClassObject, External, EnumMember))


def _is_made_here(value: Any, since: int, seen: set[int]) -> bool:
    """Tell whether a value is, down to its last part, the same anywhere or not older than `since`."""
    if _is_the_same_anywhere(value) or id(value) in seen:
        return True
    seen.add(id(value))
    if isinstance(value, (tuple, Choice)):
        parts = value.options if isinstance(value, Choice) else value
    elif not own(value, since):
        return False
    elif type(value) in (ListObject, SetObject):
        parts = value.items or ()
    elif type(value) in (Instance, DictObject, Unknown) and UNKNOWN_KEYS not in value.writes:
        parts = tuple(value.fields.values())
    else:
        return False
    return all(_is_made_here(each, since, seen) for each in parts)


def _is_called_by(call: Call, dependencies: Dependencies) -> bool:
    """Tell whether the call is made by one of the functions that it calls."""
    here: Frame | None = call.frame
    while here is not None:
        if here.code in dependencies.functions:
            return True
        here = here.caller
    return False
