"""From the evaluator's objects to the nodes of a snapshot (see snapshots/__init__.py)."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.python.eval.classes import fields_of
from mfsdp_lint.readers.python.eval.construction import default
from mfsdp_lint.readers.python.state.calling import isolated
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, Raised
from mfsdp_lint.readers.python.values.code import Call, classes_of, qualified
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    FieldSpec,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Partial,
    SetObject,
    Unknown,
    Write,
)
from mfsdp_lint.snapshots import Node, Place

LONGEST = 2_000
"""Lists and dictionaries with more items are not kept."""
DEEPEST = 24

UNKNOWN: Node = ["?", False, "", {}]
SET: Node = ["?", True, "", {}]

MARK = "\0"
"""Begins the name of an unknown value that represents an argument; no name in a program has it."""

Home = Callable[[ClassObject | Function], "tuple[str, str] | None"]
"""Where the snapshot keeps a class or function: module and name; None where it does not."""


class PlaceNumbers:
    """The places of a snapshot, numbered as writes there are met. `roots` are the folders that their files lie in."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.abspath(root) for root in roots]
        self._numbers: dict[Place, int] = {}
        self._paths: dict[str, str] = {}

    def all(self) -> list[Place]:
        """Return the places by number."""
        return list(self._numbers)

    def number(self, write: Any) -> int | None:
        """Return the number of a write's place; None if it has none."""
        if not isinstance(write, Write) or write.node is None or not hasattr(write.node, "lineno"):
            return None
        if not isinstance(write.module, Module):
            return None
        node: Any = write.node
        place = (self._path(write.module.path), node.lineno, node.end_lineno or node.lineno, write.function, write.how)
        return self._numbers.setdefault(place, len(self._numbers))

    def _path(self, path: str) -> str:
        if path not in self._paths:
            absolute = os.path.abspath(path)
            inside = [os.path.relpath(absolute, root) for root in self._roots if absolute.startswith(root + os.sep)]
            self._paths[path] = min(inside, key=len, default=path).replace(os.sep, "/")
        return self._paths[path]


@dataclass(slots=True, eq=False)
class Encoder:
    """Encodes values for a snapshot.

    Without `places`, nothing is said of who wrote what.
    `providers` are the model providers of AutoBridge, to which objects may be told as a difference. `arguments` are
    the values of the parameters of a function, `changed` those of them, or of what they hold, that something out of
    sight may have changed: what is read from these is not what they held before.
    """

    interp: Interpreter
    home: Home
    places: PlaceNumbers | None
    providers: Mapping[str, Instance]
    arguments: Mapping[str, Object] = field(default_factory=dict)
    changed: frozenset[tuple[str, ...]] = field(default_factory=frozenset)
    _defaults: dict[str, dict[str, Node]] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _written: set[int] = field(default_factory=set)

    def encode(self, value: Object) -> Node:
        """Encode one value as a node."""
        counts: dict[int, int] = {}
        self._count(value, counts, 0)
        repeated = [identity for identity, count in counts.items() if count > 1]
        self._numbers = {identity: number for number, identity in enumerate(repeated)}
        self._written = set()
        return self._node(value, 0)

    def elsewhere(self) -> Encoder:
        """Make an encoder of the same objects for nodes that are not kept."""
        return Encoder(self.interp, self.home, None, {})

    def write(self, write: Any) -> int | None:
        """Return the number of a write's place; None if it has none."""
        return None if self.places is None else self.places.number(write)

    def _count(self, value: Object, counts: dict[int, int], depth: int) -> None:
        if isinstance(value, (Instance, DictObject, ListObject)):
            counts[id(value)] = counts.get(id(value), 0) + 1
            if counts[id(value)] > 1 or depth > DEEPEST:
                return
            for item in value.items or () if isinstance(value, ListObject) else value.fields.values():
                self._count(item, counts, depth + 1)
        elif isinstance(value, tuple):
            for item in value:
                self._count(item, counts, depth + 1)

    def _node(self, value: Object, depth: int) -> Node:
        value = self.interp.settle(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if value is MISSING:
            return ["missing"]
        path = self._argument(value)
        if path is not None:
            return ["arg", *path]
        if depth > DEEPEST:
            return SET
        if isinstance(value, (Instance, DictObject, ListObject)):
            number = self._numbers.get(id(value))
            if id(value) in self._written:
                return ["same", number]
            if number is not None:
                self._written.add(id(value))
            node = self._object(value, depth)
            return node if number is None else ["def", number, node]
        match value:
            case Unknown():
                not_none = value.not_none or self.interp.path.facts.fields.get(("not none", id(value))) is True
                written = {
                    name: ["w", self.write(write), self._node(value.fields[name], depth + 1)]
                    for name, write in value.writes.items()
                    if isinstance(name, str) and name in value.fields
                }
                return ["?", not_none, value.text.replace(MARK, ""), written]
            case Choice(options=options):
                return ["or", *(self._node(option, depth + 1) for option in options)]
            case tuple():
                return ["tuple", *(self._node(item, depth + 1) for item in value)]
            case EnumMember(cls=cls, name=name):
                return ["enum", self._reference(cls), name]
            case External(name=name) | Native(name=name):
                return ["ext", name]
            case ClassObject() | Function():
                return self._reference(value)
            case Partial(function=function, arguments=arguments, keywords=keywords):
                target = self._node(function, depth + 1)
                if target == SET:
                    return SET
                given = {name: self._node(item, depth + 1) for name, item in keywords.items()}
                return ["partial", target, [self._node(item, depth + 1) for item in arguments], given]
        return SET

    def _argument(self, value: Object) -> tuple[str, ...] | None:
        """Find the parameter and attributes from which the caller's own value was read; None for any other value."""
        for name, given in self.arguments.items():
            if value is given:
                return (name,)
        path = path_of(value)
        if path is None or len(path) < 2 or any(path[:depth] in self.changed for depth in range(1, len(path))):
            return None
        owner = self.arguments.get(path[0])
        for name in path[1:-1]:
            owner = owner.fields.get(name) if isinstance(owner, (Unknown, Instance)) else None
        if not isinstance(owner, (Unknown, Instance)):
            return None
        # A copy's attributes bear the same names; an argument's own are there, or were replaced.
        return path if owner.fields.get(path[-1]) is value or path[-1] in owner.writes else None

    def _reference(self, value: Object) -> Node:
        found = self.home(value) if isinstance(value, (ClassObject, Function)) else None
        if found is not None:
            return ["ref", *found]
        return ["ext", qualified(value)] if isinstance(value, (ClassObject, External)) else SET

    def _object(self, value: ListObject | DictObject | Instance, depth: int) -> Node:
        if isinstance(value, Instance):
            return self._instance(value, depth)
        if isinstance(value, ListObject):
            items = value.items
            if items is None or len(items) > LONGEST:
                return SET
            tag = "set" if isinstance(value, SetObject) else "list"
            return [tag, *(self._node(item, depth + 1) for item in items)]
        if value.writes.get(MAY_HAVE_CHANGED) or len(value.fields) > LONGEST:
            return SET
        entries = []
        for key, item in value.fields.items():
            place = self.write(value.writes.get(key))
            entry = [self._node(key, depth + 1), self._node(item, depth + 1)]
            entries.append(entry if place is None else [*entry, place])
        return ["dict", *entries]

    def _instance(self, value: Instance, depth: int) -> Node:
        written = {}
        unwritten = {}
        for name, item in value.fields.items():
            if not isinstance(name, str):
                continue
            node = self._node(item, depth + 1)
            if name in value.writes:
                written[name] = ["w", self.write(value.writes[name]), node]
            else:
                unwritten[name] = node

        def beyond(defaults: Mapping[str, Node]) -> dict[str, Node]:
            """Return the fields in which the object differs from the base."""
            differing = {
                k: node for k, node in unwritten.items() if k not in defaults or bare(defaults[k]) != bare(node)
            }
            gone = [name for name in defaults if name not in unwritten and name not in written]
            return differing | {name: ["missing"] for name in gone}

        base, given = min(
            ((base, beyond(defaults)) for base, defaults in self._bases(value)),
            key=lambda found: len(found[1]),
        )
        fields = {name: written.get(name) or ["u", given[name]] for name in (*given, *written)}
        node = ["obj", base, self.write(value.made), fields]
        return [*node, True] if value.writes.get(MAY_HAVE_CHANGED) else node

    def _bases(self, value: Instance) -> list[tuple[Node, dict[str, Node]]]:
        """List the bases that `value` may be encoded as a difference to: class defaults, and model providers."""
        classes = classes_of(value)
        references = [self._reference(cls) for cls in classes]
        base: Node = references[0] if len(references) == 1 else ["or", *references]
        found = [(base, self._class_defaults(value.cls) if isinstance(value.cls, ClassObject) else {})]
        for key, provider in self.providers.items():
            others = classes_of(provider)
            if provider is not value and len(others) == len(classes) and all(map(_is_same_class, others, classes)):
                found.append((["hf", *key.split(" ")], self._provider_defaults(key, provider)))
        return found

    def _class_defaults(self, cls: ClassObject) -> dict[str, Node]:
        if cls.qualified_name not in self._defaults:
            self._defaults[cls.qualified_name] = class_defaults(self.elsewhere(), cls, fields_of(self.interp, cls))
        return self._defaults[cls.qualified_name]

    def _provider_defaults(self, key: str, provider: Instance) -> dict[str, Node]:
        if key not in self._defaults:
            own = self.elsewhere()
            self._defaults[key] = {
                name: own.encode(item) for name, item in provider.fields.items() if isinstance(name, str)
            }
        return self._defaults[key]


def path_of(value: Object) -> tuple[str, ...] | None:
    """Return the parameter that an unknown value is named after, and the attributes by which it was read; None for
    others.

    An attribute of an unknown value is an unknown value with the names of both.
    """
    if isinstance(value, Unknown) and value.text.startswith(MARK):
        path = tuple(value.text[len(MARK) :].split("."))
        return path if all(map(str.isidentifier, path)) else None
    return None


def class_defaults(encoder: Encoder, cls: ClassObject, specs: Sequence[FieldSpec]) -> dict[str, Node]:
    """Return the values of a class's fields when nothing is passed, by name."""
    interp = encoder.interp
    call = Call([], {}, None, Frame(cls.module))
    found = {}
    for spec in specs:
        try:
            value = isolated(interp, functools.partial(default, interp, spec, None, call))
        except (Raised, CannotJoin):
            value = MISSING
        found[spec.name] = encoder.encode(interp.unknown(spec.name) if value is MISSING else value)
    return found


def _is_same_class(left: Object, right: Object) -> bool:
    return left is right or (isinstance(left, External) and left == right)


def bare(node: Node) -> Node:
    """Strip a node of its writers: only the value remains."""
    if not isinstance(node, list):
        return (type(node).__name__, node)
    match node[0]:
        case "obj":
            return ["obj", node[1], {name: bare(field[-1]) for name, field in node[3].items()}, *node[4:]]
        case "dict":
            return ["dict", *([bare(entry[0]), bare(entry[1])] for entry in node[1:])]
        case "?":
            return ["?", node[1], {name: bare(field[-1]) for name, field in node[3].items()}]
        case "ref" | "ext" | "enum" | "arg" | "same" | "hf" | "partial":
            return node
        case "dep":
            return ["dep", node[1], bare(node[2]), *node[3:]]
        case "def":
            return ["def", node[1], bare(node[2])]
    return [node[0], *map(bare, node[1:])]


def kinds_of_parameters(function: Function) -> list[tuple[str, str]]:
    """List a function's parameters with their kinds, as `parameters` has them (see snapshots/__init__.py)."""
    arguments = function.node.args
    named = [(each.arg, "p") for each in arguments.posonlyargs] + [(each.arg, "a") for each in arguments.args]
    named += [(arguments.vararg.arg, "*")] if arguments.vararg else []
    named += [(each.arg, "k") for each in arguments.kwonlyargs]
    return named + ([(arguments.kwarg.arg, "**")] if arguments.kwarg else [])
