"""Assigns to every name of every class, with a snapshot and with the source that it was made from, and compares.

Names are the fields, the properties with and without setters, names of a part that attributes are handed on to, and one
that no class has. Compared is which fields hold the value afterwards, or that Python refuses it. Used by
compare_snapshot.py and the tests.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.classes import fields_of, has_fields, mro, namespace
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised, with_room
from mfsdp_lint.readers.python.values.code import ClassObject, Frame
from mfsdp_lint.readers.python.values.objects import MISSING, Choice, Descriptor, Instance, Unknown
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge
from tools.snapshot.entries import forwarding

PROBES = (True, False, "probe")
NOWHERE = "no_such_name"
UNTOLD = "not known"

Outcome = str | dict[str, str]
"""The fields that are written, and their values as far as they are known; an exception's name; or UNTOLD."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An assignment that does something else with the snapshot than with the source."""

    cls: str
    name: str
    value: object
    snapshot: Outcome
    source: Outcome


@with_room
def differences(
    snapshot: Snapshot, roots: Sequence[str], modules: Sequence[str] | None = None
) -> tuple[list[Difference], int]:
    """Compare the assignments of all classes of a snapshot with the source; return the differences and the number of
    assignments.

    `roots` are the source's import roots; `modules` are the modules to compare, by default all.
    """
    finder = ModuleFinder(Sources(), roots)
    real, known = Interpreter(finder), Interpreter(ModuleFinder(Sources()), SnapshotKnowledge(lambda: snapshot))
    found, count = [], 0
    for module, name in _classes(snapshot, modules or snapshot.modules()):
        path = next((each for root in roots for each in _files(root, module) if os.path.isfile(each)), None)
        loaded = None if path is None else finder.load(path, module)
        if loaded is None:
            continue
        theirs = _begun(real, resolve_global, loaded, name)
        mine = _begun(known, known.knowledge.member, module, name)
        if not isinstance(theirs, ClassObject) or not isinstance(mine, ClassObject) or not has_fields(real, theirs):
            continue
        forwards = [_begun(interp, forwarding, cls) for interp, cls in ((known, mine), (real, theirs))]
        if forwards != [None, None]:
            # Which of two objects a name belongs to: this finds out by assigning.
            count += 1
            if forwards[0] != forwards[1]:
                found.append(Difference(f"{module}.{name}", "*", None, str(forwards[0]), str(forwards[1])))
            continue
        for attribute in _names(real, theirs):
            for value in PROBES:
                count += 1
                one, other = _assigned(known, mine, attribute, value), _assigned(real, theirs, attribute, value)
                if not _agree(one, other):
                    found.append(Difference(f"{module}.{name}", attribute, value, one, other))
    return found, count


def _classes(snapshot: Snapshot, modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    for module in modules:
        for name in snapshot.names(module) or ():
            if snapshot.entry(module, name)[0] == "class":
                yield module, name


def _files(root: str, module: str) -> list[str]:
    inside = os.path.join(root, *module.split("."))
    return [f"{inside}.py", os.path.join(inside, "__init__.py")]


def _begun(interp: Interpreter, work: Callable[..., Any], *arguments: object) -> Any:
    """Run work that needs a path of the evaluator; MISSING if it has no answer."""
    interp.begin(())
    try:
        return work(interp, *arguments)
    except (Raised, CannotJoin, OutOfSteps):
        return MISSING
    finally:
        interp.finish()


def _names(interp: Interpreter, cls: ClassObject) -> list[str]:
    interp.begin(())
    names = [spec.name for spec in fields_of(interp, cls)]
    for base in mro(interp, cls):
        if isinstance(base, ClassObject):
            own = namespace(interp, base)
            names += [name for name, value in own.items() if isinstance(value, Descriptor) and value.kind == "property"]
    interp.finish()
    return list(dict.fromkeys([*names, NOWHERE]))


def _assigned(interp: Interpreter, cls: ClassObject, name: str, value: object) -> Outcome:
    """Assign to an attribute of an object with unknown fields, and return the effect."""
    interp.begin(())
    frame = Frame(cls.module)
    instance = Instance(cls, interp.tick())
    instance.fields.update({spec.name: interp.unknown(spec.name) for spec in fields_of(interp, cls)})
    before = dict(instance.fields)
    try:
        set_attribute(interp, instance, name, value, ast.Pass(lineno=1, col_offset=0), frame)
    except Raised as error:
        return error.name
    except (CannotJoin, OutOfSteps):
        return UNTOLD
    finally:
        interp.finish()
    changed = {key: each for key, each in instance.fields.items() if each is not before.get(key, MISSING)}
    return {
        str(key): UNTOLD if isinstance(each, (Unknown, Choice)) else repr(each) for key, each in sorted(changed.items())
    }


def _agree(snapshot: Outcome, source: Outcome) -> bool:
    """Tell whether two outcomes do not contradict each other; less may be known of either."""
    if UNTOLD in (snapshot, source):
        return snapshot == UNTOLD
    if isinstance(snapshot, str) or isinstance(source, str):
        return snapshot == source
    pairs = ((snapshot[key], source[key]) for key in snapshot.keys() & source.keys())
    return snapshot.keys() == source.keys() and all(one == other or UNTOLD in (one, other) for one, other in pairs)
