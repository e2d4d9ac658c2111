"""From the evaluator's objects to the settings of a recipe: paths, values, origins; writes to names without a field.

A dataclass takes any attribute, so `cfg.checkpoint.ckpt_fromat = "fsdp_dtensor"` passes in silence and nobody ever
reads it; an override (`checkpoint.ckpt_fromat=fsdp_dtensor`) is refused, or passed over. An assignment is told only
of a class that is known completely: a dataclass without a base out of sight, with no hook of its own for reading or
writing attributes, and no attribute or property of that name. And not of names that are set on purpose: private ones,
and those that other code at hand reads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Obstacle, Origin, Setting, Settings, Undeclared
from mfsdp_lint.core.settings import Answering
from mfsdp_lint.core.values import UNKNOWN, Known, Value, join
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.classes import fields_by_name, has_fields, lookup, mro, opaque
from mfsdp_lint.readers.python.export.origins import Spans, obstacle, one_origin, origin, plain_value, switch
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import qualified
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    Frame,
    Instance,
    Lacked,
    Module,
    Object,
    Unknown,
    Write,
    lacked_by,
    obstacle_of,
    uncertain,
)

_HOOKS = ("__setattr__", "__getattr__", "__getattribute__", "__slots__")
_DEEPEST_SEARCH = 12

_READ = lazy_pattern(r"\.(\w+)\b(?!\s*=[^=])")
_WRITTEN = lazy_pattern(r"\.(\w+)\s*=[^=]")
_GETATTR = lazy_pattern(r"getattr\(([^()]*)")
_QUOTED = lazy_pattern(r"[\"'](\w+)(?=[\"'])")


def undeclared(
    interp: Interpreter, root: Object, program: Callable[[], Sequence[str]], place_of: Callable[[Write], Origin | None]
) -> Iterator[Undeclared]:
    """Yield the undeclared writes below a configuration of a program, as far as their places are known."""
    for path, owner, names, lacked in _below(interp, root, "", frozenset(), program):
        if place := place_of(lacked.write):
            yield Undeclared(path, owner, names, place, lacked.below, lacked.refused)


def _below(
    interp: Interpreter, owner: Object, prefix: str, above: frozenset[int], program: Callable[[], Sequence[str]]
) -> Iterator[tuple[str, str, tuple[str, ...], Lacked]]:
    """Yield the path, the name of the owner's class, the names that the owner has, and the write."""
    if not isinstance(owner, (Instance, DictObject)) or id(owner) in above or len(above) > _DEEPEST_SEARCH:
        return
    for lacked in lacked_by(owner):
        if lacked.refused or not _is_read(interp, program, lacked.name):
            names = tuple(name for name in owner.fields if isinstance(name, str))
            yield f"{prefix}{lacked.name}", _name_of(owner, prefix), names, lacked
    if isinstance(owner, DictObject):
        return
    if isinstance(owner.cls, ClassObject):
        declared = fields_by_name(interp, owner.cls)
        if not owner.writes.keys() <= declared.keys() and _is_closed(interp, owner, owner.cls):
            for name, write in owner.writes.items():
                if name not in declared and _is_meant(interp, owner.cls, name, write, program):
                    yield f"{prefix}{name}", owner.cls.name, tuple(declared), Lacked(name, "", write, refused=False)
    inside = [(name, inner) for name, inner in owner.fields.items() if type(inner) in (Instance, DictObject)]
    for name, inner in inside:
        if isinstance(name, str):
            yield from _below(interp, inner, f"{prefix}{name}.", above | {id(owner)}, program)


def _name_of(owner: Instance | DictObject, prefix: str) -> str:
    """Return the name of the owner that lacks a name: a class, or a dictionary by its path."""
    cls = owner.cls if isinstance(owner, Instance) else None
    return cls.name if isinstance(cls, ClassObject) else prefix.rstrip(".") or "the configuration"


def _is_meant(
    interp: Interpreter, cls: ClassObject, name: str, write: object, program: Callable[[], Sequence[str]]
) -> bool:
    """Tell whether a write to a name that is no field was meant for a field."""
    return (
        isinstance(write, Write)
        and _is_assignment(write)
        and not name.startswith("_")
        and lookup(interp, cls, name)[0] is MISSING
        and not _is_read(interp, program, name)
    )


def _is_read(interp: Interpreter, program: Callable[[], Sequence[str]], name: str) -> bool:
    """Tell whether a file of a program reads an attribute of this name, as far as its text tells."""
    by_file, by_program = _readers(interp, name)
    files = program()
    # (The interpreter keeps the files of a program, so that their id stays their own.)
    found = by_program.get(id(files))
    if found is None:
        found = by_program[id(files)] = any(_reads_name(interp, path, name, by_file) for path in files)
    return found


def _reads_name(interp: Interpreter, path: str, name: str, known: dict[str, bool]) -> bool:
    if path not in known:
        text = interp.finder.sources.text_or_none(path)
        known[path] = text is not None and reads(text, name)
    return known[path]


@remembered()
def _readers(interp: Interpreter, name: str) -> tuple[dict[str, bool], dict[int, bool]]:
    """Return the files, and the programs, that were asked whether they read a name, with the answers."""
    interp.finder.sources.read_names.add(name)
    return {}, {}


def reads(text: str, name: str) -> bool:
    """Tell whether a text reads an attribute."""
    return name in text and any(name in line and name in _reads_of(line) for line in text.splitlines())


def _reads_of(line: str) -> set[str]:
    """Return the attributes that a line reads and does not write as well."""
    asked = (name for call in _GETATTR.findall(line) for name in _QUOTED.findall(call))
    return {*_READ.findall(line), *asked}.difference(_WRITTEN.findall(line))


def _is_closed(interp: Interpreter, owner: Instance, cls: ClassObject) -> bool:
    return (
        has_fields(interp, cls)
        and not opaque(interp, cls)
        and not owner.writes.get(MAY_HAVE_CHANGED)
        and all(lookup(interp, cls, hook)[0] is MISSING for hook in _HOOKS)
    )


def _is_assignment(write: Write) -> bool:
    """Tell whether a write assigns from outside: attributes that a class's own methods keep on `self` are theirs."""
    if write.how != "assigned":
        return False
    targets = getattr(write.node, "targets", None) or [getattr(write.node, "target", None)]
    return not any(
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
        for target in targets
    )


ENVIRONMENT = "env."
_UPSTREAM = "megatron."  # (whose source may be what is linted)
_DEEPEST = 12


class TreeSettings(Answering):
    """The settings of one execution path through a recipe, read from its configuration tree when they are asked for."""

    def __init__(self, interp: Interpreter, root: Object, environment: DictObject, spans: Spans) -> None:
        self._interpreter = interp
        self._entry = interp.entry
        self._facts = interp.path.facts
        self._root = root
        self._environment = environment
        self._spans = spans
        super().__init__()
        self._known, self._values = self.answers.settings, self.answers.values
        self._sections: dict[str, Object] = {}

    def get(self, path: str) -> Setting | None:
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Return every write that had to do with a setting, in order: of itself, or of a section that it is in.

        A section counts where it replaces another, or where nothing else is known to have been written.
        """
        if path not in self.answers.histories:
            self.answers.histories[path] = self._history(path)
        return self.answers.histories[path]

    def _history(self, path: str) -> list[tuple[str, Origin]]:
        interp = self._interpreter
        with interp.knowing(self._facts):
            writes = {} if path.startswith(ENVIRONMENT) else _history(self._root, path.split("."), "")
            found = [(each, self._told(writes[each, order])) for each, order in sorted(writes, key=_order)]
        return [(each, one) for each, one in found if one is not None] or super().history(path)

    def obstacle(self, path: str) -> Obstacle | None:
        """Return the obstacle that made a setting unknown: that of its own value, or of the section that it is in."""
        if path not in self.answers.obstacles:
            self.answers.obstacles[path] = self._obstacle(path)
        return self.answers.obstacles[path]

    def _obstacle(self, path: str) -> Obstacle | None:
        wanted = path
        if path.startswith(ENVIRONMENT):
            return None
        with self._interpreter.knowing(self._facts):
            place = self._place(path)
            found = None if place is None else obstacle_of(place[2])
            while found is None and path:
                path = path.rpartition(".")[0]
                found = obstacle_of(self._section(path))
        return None if found is None else obstacle(self._spans, found, self.origin(wanted))

    def undeclared(self) -> tuple[Undeclared, ...]:
        """Return the writes to names that are no fields."""
        if self.answers.undeclared is None:
            interp = self._interpreter
            with interp.knowing(self._facts):
                program = partial(interp.program_of, self._entry)
                found = undeclared(interp, self._root, program, lambda write: origin(self._spans, write))
                self.answers.undeclared = tuple(found)
        return self.answers.undeclared

    def _told(self, write: Write) -> Origin | None:
        earlier = write.earlier and one_origin(self._spans, write.earlier, None)
        return one_origin(self._spans, write, earlier)

    def differing(self, other: Settings) -> Iterable[str]:
        """Return the paths that may differ, quickly: two configurations are mostly made of the same constants."""
        self.answers.compared = True
        if not isinstance(other, TreeSettings):
            return super().differing(other)
        other.answers.compared = True
        return [path for path, _ in self._unlike(other, places=False)]

    def is_like(self, other: Settings) -> bool:
        """Compare what is not plainly the same in both, quickly: see `differing`."""
        if not isinstance(other, TreeSettings):
            return super().is_like(other)
        return all(shared and self._is_like_at(path, other) for path, shared in self._unlike(other, places=True))

    def _unlike(self, other: TreeSettings, *, places: bool) -> Iterator[tuple[str, bool]]:
        yield from _unlike(self._root, other._root, "", set(), places=places)
        yield from _of_both(self._variables(), other._variables())

    def __iter__(self) -> Iterator[str]:
        if self.answers.every is None:
            self.answers.every = tuple(dict.fromkeys([*_paths(self._root, "", set()), *self._variables()]))
        return iter(self.answers.every)

    def written(self) -> Iterable[str]:
        """Return the settings that somebody wrote, without an origin of each: most are at their defaults."""
        if self.answers.written is None:
            found: list[str] = []
            _written(self._root, "", set(), found)
            self.answers.written = tuple(dict.fromkeys([*found, *self._variables()]))
        return self.answers.written

    def _variables(self) -> list[str]:
        names = [key for key in self._environment.fields if isinstance(key, str) and key in self._environment.writes]
        own = _field(self._root, "env_vars")
        if isinstance(own, DictObject):
            names += [key for key in own.fields if isinstance(key, str)]
        return [f"{ENVIRONMENT}{name}" for name in names]

    def _read(self, path: str) -> Setting | None:
        # As `knowing` does, which makes a context manager each time: this is asked for every setting of every recipe.
        at = self._interpreter.path
        now, at.facts = at.facts, self._facts
        try:
            if path.startswith(ENVIRONMENT):
                return self._variable(path, path[len(ENVIRONMENT) :])
            place = self._place(path)
            if place is None:
                return None
            owner, name, found = place
            return Setting(path, plain_value(self._interpreter, found), self._origin(owner, name))
        finally:
            at.facts = now

    def value(self, path: str) -> Value:
        """Return the value alone, which is the subject of most questions; unknown for a missing setting."""
        found = self._values.get(path)
        if found is None:
            found = self._values[path] = self._switch(path) or self._in_full(path)
        return found

    def _switch(self, path: str) -> Value | None:
        """Return the value of a field that is None, True or False, as most are: it depends on nothing else."""
        section, _, name = path.rpartition(".")
        owner = self._sections.get(section)
        return switch(owner.fields.get(name, MISSING)) if isinstance(owner, Instance) else None

    def _in_full(self, path: str) -> Value:
        at = self._interpreter.path
        now, at.facts = at.facts, self._facts
        try:
            if path.startswith(ENVIRONMENT):
                setting = self._variable(path, path[len(ENVIRONMENT) :])
                return UNKNOWN if setting is None else setting.value
            place = self._place(path)
            return UNKNOWN if place is None else plain_value(self._interpreter, place[2])
        finally:
            at.facts = now

    def _place(self, path: str) -> tuple[Object, str, Object] | None:
        """Return the object that a setting is a part of, the name of the part, and the part; None where there is none.

        `__class__` is the name of a class. A section that is None has no settings: a reader of such a setting finds
        nothing.
        """
        section, _, name = path.rpartition(".")
        owner = self._section(section)
        found = (class_name(owner) or MISSING) if name == "__class__" else _field(owner, name)
        if found is MISSING and isinstance(owner, (Instance, Choice)) and name != "__class__":
            found = self._computed(owner, name)
        return None if found is MISSING else (owner, name, found)

    def _section(self, path: str) -> Object:
        """Return the object whose parts are the settings with this path in front of their names."""
        if path not in self._sections:
            place = self._place(path) if path else ("", "", self._root)
            self._sections[path] = MISSING if place is None else self._interpreter.settle(place[2])
        return self._sections[path]

    def _computed(self, owner: Object, name: str) -> Object:
        """Return a property, a class attribute, or a value that `__getattr__` forwards; MISSING where reading fails."""
        interp = self._interpreter
        mark, steps = len(interp.path.journal), interp.path.steps
        interp.path.steps = 0
        interp.path.trial += 1
        try:
            module = (
                owner.cls.module
                if isinstance(owner, Instance) and isinstance(owner.cls, ClassObject)
                else Module("", "", ast.Module([], []))
            )
            return get_attribute(interp, owner, name, None, Frame(module))
        except (Raised, RecursionError, CannotJoin, OutOfSteps):
            return MISSING
        finally:
            interp.path.trial -= 1
            interp.rollback(mark)
            interp.path.steps = steps

    def _origin(self, owner: Object, name: str) -> Origin | None:
        write = _write(owner, name)
        if write is None and isinstance(owner, Instance) and name not in owner.fields:
            write = next(
                (
                    inner.writes[name]
                    for inner in owner.fields.values()
                    if isinstance(inner, Instance) and name in inner.writes
                ),
                None,
            )
        if write is not None:
            return origin(self._spans, write)
        made = getattr(owner, "made", None)
        return origin(self._spans, self._own_default(owner, name, made) or made)

    def _own_default(self, owner: Object, name: str, made: object) -> Write | None:
        """Return the write of a default that a class of the program gives a field; None for a default of upstream's."""
        if not isinstance(owner, Instance) or not isinstance(made, Write):
            return None
        for base in mro(self._interpreter, owner.cls):
            if not isinstance(base, ClassObject) or base.node is None or base.module.name.startswith(_UPSTREAM):
                return None
            for node in base.node.body:
                named = isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name
                value = getattr(node, "value", None)
                if named and value is not None:
                    return made._replace(module=base.module, node=node, focus=value, function=base.name, sources=())
        return None

    def _variable(self, path: str, name: str) -> Setting | None:
        own = _field(self._root, "env_vars")
        # (Start-up sets those of the configuration that are not set: head's config.py, `apply_environment_variables`.)
        value, write = self._environment.fields.get(name, MISSING), self._environment.writes.get(name)
        if (write is None or value is None) and isinstance(own, DictObject) and name in own.fields:
            value, write = own.fields[name], own.writes.get(name)
        elif write is None or value is MISSING:
            return None
        known = plain_value(self._interpreter, value)
        if uncertain(value):
            known = join([known, UNKNOWN])
        if isinstance(known, Known) and known.value is not None:
            known = Known(str(known.value))
        return Setting(path, known, origin(self._spans, write))


def _field(owner: Object, name: str) -> Object:
    if isinstance(owner, (Instance, Unknown)):
        return owner.fields.get(name, MISSING)
    if isinstance(owner, DictObject):
        return owner.fields.get(name, MISSING)
    return MISSING


def _write(owner: Object, name: str) -> Write | None:
    found = owner.writes.get(name) if isinstance(owner, (Instance, Unknown, DictObject)) else None
    return found if isinstance(found, Write) else None


def _order(key: tuple[str, int]) -> int:
    return key[1]


def _history(owner: Object, parts: list[str], above: str) -> dict[tuple[str, int], Write]:
    """Return the writes of a setting below `owner` by path and order, including writes into replaced sections."""
    name, rest = parts[0], parts[1:]
    path = above + name
    chain: list[Write] = []
    here = _write(owner, name)
    while here is not None and len(chain) < 50:
        chain.insert(0, here)
        here = here.earlier
    if not rest:
        made = getattr(owner, "made", None)
        if not chain and isinstance(made, Write):
            chain = [made._replace(value=_field(owner, name))]
        return {(path, write.order): write for write in chain}
    found: dict[tuple[str, int], Write] = {}
    for position, write in enumerate(chain):
        if position and write.value is not chain[position - 1].value:
            found[path, write.order] = write
        found |= _history(write.value, rest, path + ".")
    found |= _history(_field(owner, name), rest, path + ".")
    return found or {(path, write.order): write for write in chain[-1:]}


def _paths(owner: Object, prefix: str, above: set[int]) -> list[str]:
    """List the paths of the parts of an object."""
    found: list[str] = []
    _add_paths(owner, prefix, above, found)
    return found


def _add_paths(owner: Object, prefix: str, above: set[int], found: list[str]) -> None:
    if id(owner) in above or len(above) > _DEEPEST:
        return
    inside = above | {id(owner)}
    fields: dict[Any, Object] = getattr(owner, "fields", {})
    for name, value in fields.items():
        if isinstance(name, str):
            _add_paths_of(owner, name, value, prefix, inside, found)


def _add_paths_of(owner: Object, name: str, value: Object, prefix: str, above: set[int], found: list[str]) -> None:
    """Add the path of one part of an object, and the paths below it."""
    path = prefix + name
    if isinstance(value, (Instance, Unknown)) and _has_fields(value):
        if isinstance(value, Instance):
            found.append(path)
        _add_paths(value, path + ".", above, found)
    elif not isinstance(owner, Unknown) or name in owner.writes:
        found.append(path)


def _written(owner: Object, prefix: str, above: set[int], found: list[str]) -> None:
    """Add to `found` the paths of the parts that somebody wrote, instead of their class: `_paths`, but much faster."""
    if id(owner) in above or len(above) > _DEEPEST:
        return
    inside = above | {id(owner)}
    fields: dict[Any, Object] = getattr(owner, "fields", {})
    writes: dict[Any, Any] = getattr(owner, "writes", {})
    made = getattr(owner, "made", None)
    undeclared = isinstance(owner, Unknown)
    for name, value in fields.items():
        if not isinstance(name, str):
            continue
        section = isinstance(value, (Instance, Unknown)) and _has_fields(value)
        if section:
            _written(value, f"{prefix}{name}.", inside, found)
        elif not undeclared or name in writes:
            write = writes.get(name) or made
            if not isinstance(write, Write) or write.how != "default":
                found.append(prefix + name)


def _of_both(paths: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield the paths of two objects, each with whether both have it."""
    ones, twos = dict.fromkeys(paths), dict.fromkeys(others)
    return ((path, path in ones and path in twos) for path in ones | twos)


def _unlike(owner: Object, other: Object, prefix: str, above: set[int], *, places: bool) -> Iterator[tuple[str, bool]]:
    """Yield the paths below two objects of which it is not plain that both have the same value there, with `places`
    also from the same place; each with whether both have it.
    """
    alike = isinstance(owner, Instance) and isinstance(other, Instance) and (not places or owner.cls is other.cls)
    if not alike or len(above) > _DEEPEST or not above.isdisjoint((id(owner), id(other))):
        yield from _of_both(_paths(owner, prefix, above), _paths(other, prefix, above))
        return
    assert isinstance(owner, Instance)
    assert isinstance(other, Instance)
    inside = above | {id(owner), id(other)}
    for name in dict.fromkeys((*owner.fields, *other.fields)):
        if not isinstance(name, str):
            continue
        one, two = owner.fields.get(name, MISSING), other.fields.get(name, MISSING)
        are_parts = isinstance(one, Instance) and isinstance(two, Instance) and _has_fields(one) and _has_fields(two)
        are_equal = type(one) is type(two) and isinstance(one, CONSTANTS) and one == two
        if are_parts or (are_equal and (not places or repr(one) == repr(two))):
            if places and not _is_same_place(_write(owner, name) or owner.made, _write(other, name) or other.made):
                yield f"{prefix}{name}", True
            if are_parts:
                yield from _unlike(one, two, f"{prefix}{name}.", inside, places=places)
        else:
            ones, twos = list[str](), list[str]()
            if one is not MISSING:
                _add_paths_of(owner, name, one, prefix, inside, ones)
            if two is not MISSING:
                _add_paths_of(other, name, two, prefix, inside, twos)
            yield from _of_both(ones, twos)


def _is_same_place(one: object, two: object) -> bool:
    """Tell whether two writes are plainly made by the same text."""
    if not (isinstance(one, Write) and isinstance(two, Write)) or one.node is None:
        return one is two
    return one.node is two.node and one.focus is two.focus and one.sources == two.sources


def _has_fields(value: Instance | Unknown) -> bool:
    if isinstance(value, Instance) and isinstance(value.cls, ClassObject) and value.cls.module.written:
        return False  # a path, a namespace: a value to its user
    for name in value.fields:  # noqa: SIM110 (every part of every configuration is asked)
        if isinstance(name, str):
            return True
    return False


def class_name(owner: Object) -> str | None:
    """Return the dotted name of an object's class, if it is known."""
    if isinstance(owner, Instance) and not isinstance(owner.cls, Choice):
        return qualified(owner.cls)
    return None
