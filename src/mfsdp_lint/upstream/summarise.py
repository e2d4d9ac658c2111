"""What a function does, found by evaluating it: once with its defaults, then with parameters that are not known.

Sound by construction: a part of the outcome is told as independent of parameters only if it stayed the same in one run in
which all of these were unknown at once; the runs with one unknown parameter say which ones to try.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from mfsdp_lint.readers.python.classes import ClassObject, instantiate
from mfsdp_lint.readers.python.calls import call
from mfsdp_lint.readers.python.machine import STEP_LIMIT, CannotMerge, Frame, Machine, OutOfSteps, Raised
from mfsdp_lint.readers.python.modules import Module
from mfsdp_lint.readers.python.objects import MISSING, Function, Instance, Object, Unknown
from mfsdp_lint.upstream.encode import Encoder, bare
from mfsdp_lint.upstream.snapshot import Node

WAYS = 16
"""Ways through a function that are looked at."""
WITNESSES = 24
"""Runs with several unknown parameters, for one function."""
RUN_STEPS = 20_000
SUBJECT_STEPS = 80_000
"""Steps of the evaluator for one run, and for all runs of one function: what takes longer makes models, not configurations."""
DEFAULT: Node = ["default"]
UNCHANGED: Node = ["u", DEFAULT]


class Watching(Machine):
    """A machine that remembers which objects were forgotten because something out of sight had them, and gives up early."""

    most_steps = STEP_LIMIT

    def begin(self, decisions: tuple[bool, ...]) -> None:
        self.forgotten: set[int] = set()
        super().begin(decisions)

    def step(self) -> None:
        super().step()
        if self.steps > self.most_steps:
            raise OutOfSteps

    def havoc(self, value: Object, seen: set[int] | None = None) -> None:
        self.forgotten.add(id(value))
        super().havoc(value, seen)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: `kind` as in a snapshot; `default` is MISSING where it must be given, and for what `**` takes."""

    name: str
    kind: str
    default: Object = MISSING
    required: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """One way through a function: the decisions it took, and its outcome as an "obj" node of results and changes."""

    taken: tuple[tuple[bool, str], ...]
    outcome: Node
    forgets: frozenset[tuple[str, ...]]


@dataclass(slots=True)
class Subject:
    """Something to summarise: `invoke` runs it with the objects of some parameters; `fixed` are arguments with a known value."""

    parameters: Sequence[Parameter]
    invoke: Callable[[Mapping[str, Object]], Object]
    encoder: Encoder
    owner: ClassObject | None = None
    runs: dict[frozenset[str], list[Way] | None] = field(default_factory=dict)
    steps: int = 0
    fixed: Mapping[str, Object] = field(default_factory=dict)

    @property
    def machine(self) -> Watching:
        machine = self.encoder.machine
        assert isinstance(machine, Watching)
        return machine

    def run(self, symbolic: frozenset[str]) -> list[Way] | None:
        """All ways with these parameters unknown (those that are required always are); None where there is no answer."""
        if symbolic not in self.runs:
            self.machine.most_steps = RUN_STEPS
            self.runs[symbolic] = self._run(symbolic) if self.steps < SUBJECT_STEPS else None
            self.machine.most_steps = STEP_LIMIT
        return self.runs[symbolic]

    def _run(self, symbolic: frozenset[str]) -> list[Way] | None:
        machine = self.machine
        pending: list[tuple[bool, ...]] = [()]
        ways: list[Way] = []
        for _ in range(WAYS):
            if not pending:
                break
            prefix = pending.pop()
            machine.begin(prefix)
            given = self._given(symbolic)
            try:
                result = self.invoke(given)
                ways.append(self._way(result, given))
            except (Raised, RecursionError):
                pass
            except (OutOfSteps, CannotMerge):
                pending.append(())
                break
            finally:
                self.steps += machine.steps
            taken = machine.taken
            for position in range(len(taken) - 1, len(prefix) - 1, -1):
                pending.append((*(outcome for outcome, _ in taken[:position]), not taken[position][0]))
        machine.finish()
        return None if pending or not ways else ways

    def _given(self, symbolic: frozenset[str]) -> dict[str, Object]:
        given: dict[str, Object] = {}
        for parameter in self.parameters:
            if parameter.name in self.fixed:
                given[parameter.name] = self.fixed[parameter.name]
            elif parameter.name in symbolic or parameter.required:
                given[parameter.name] = self._unknown(parameter.name)
        return given

    def _unknown(self, name: str) -> Object:
        if name == "self" and self.owner is not None:
            from mfsdp_lint.readers.python.classes import fields_of

            instance = Instance(self.owner, self.machine.tick())
            for spec in fields_of(self.machine, self.owner):
                instance.fields[spec.name] = self.machine.unknown(f"self.{spec.name}")
            return instance
        return self.machine.unknown(name)

    def _way(self, result: Object, given: Mapping[str, Object]) -> Way:
        machine, encoder = self.machine, self.encoder
        encoder.arguments = {}
        forgets: set[tuple[str, ...]] = set()
        changes: list[tuple[int, str, Node]] = []
        for name, value in given.items():
            for path, found in _parts((name,), value, 0):
                encoder.arguments[id(found)] = list(path)
                if id(found) in machine.forgotten:
                    forgets.add(path)
        for name, value in given.items():
            for path, write, item in _writes((name,), value, 0):
                changes.append((write.order, "w:" + ".".join(path), ["w", encoder.write(write), encoder.encode(item)]))
        for name, write in machine.environment.writes.items():
            if isinstance(name, str) and hasattr(write, "order"):
                value = machine.environment.fields.get(name)
                changes.append((write.order, "e:" + name, ["w", encoder.write(write), encoder.encode(value)]))
        fields = {"result": ["u", encoder.encode(result)]}
        fields.update((key, node) for _, key, node in sorted(changes, key=lambda change: change[0]))
        # Objects go by their numbers, which are used again once they are gone.
        encoder.arguments = {}
        return Way(tuple(machine.taken), ["obj", None, None, fields], frozenset(forgets))


def _parts(path: tuple[str, ...], value: Object, depth: int) -> Iterator[tuple[tuple[str, ...], Object]]:
    """An argument and what was read from it, with the attributes that lead there."""
    yield path, value
    if not isinstance(value, (Unknown, Instance)) or depth > 6:
        return
    for key, item in value.fields.items():
        if isinstance(key, str) and not key.startswith("<") and key not in value.writes and isinstance(item, Unknown):
            yield from _parts((*path, key), item, depth + 1)


def _writes(path: tuple[str, ...], value: Object, depth: int) -> Iterator[tuple[tuple[str, ...], Any, Object]]:
    """What was written into an argument."""
    if not isinstance(value, (Unknown, Instance)) or depth > 6:
        return
    for key, item in value.fields.items():
        if not isinstance(key, str) or key.startswith("<"):
            continue
        write = value.writes.get(key)
        if hasattr(write, "order"):
            yield (*path, key), write, item
        else:
            yield from _writes((*path, key), item, depth + 1)


def _outcome(node: Node, forgets: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    fields = dict(node[3])
    found: dict[str, Any] = {"result": fields.pop("result")[1]}
    writes = [[key[2:].split("."), field[1] if field[0] == "w" else None, field[-1]] for key, field in fields.items() if key[0] == "w"]
    environment = [[key[2:], field[1] if field[0] == "w" else None, field[-1]] for key, field in fields.items() if key[0] == "e"]
    if writes:
        found["writes"] = writes
    if environment:
        found["environment"] = environment
    if forgets:
        found["forgets"] = [list(path) for path in forgets]
    return found


def summarise(subject: Subject) -> tuple[Any, list[str]] | None:
    """The outcome of a subject for a snapshot, and the parameters without whose default nothing is known of it; None where it
    cannot be told at all."""
    base = subject.run(frozenset())
    if base is None:
        return None
    optional = [parameter.name for parameter in subject.parameters if not parameter.required]
    singles = {name: subject.run(frozenset({name})) for name in optional}
    broken = sorted(name for name, ways in singles.items() if ways is None)
    combine = Combine(subject, {name: ways for name, ways in singles.items() if ways is not None})
    every = [*base, *(way for ways in combine.singles.values() for way in ways)]
    forgets = sorted({path for way in every for path in way.forgets})
    # Something that is forgotten before it is written is what was written; the other way round nothing is left to be seen.
    outcomes = []
    for way in base:
        outcomes.append((way.taken, _outcome(combine.node(("outcome",), way.outcome), forgets)))
    return _tree(outcomes, 0), broken


def outcome_with(subject: Subject, name: str, value: Object) -> Any:
    """The outcome when one parameter has a known value and all others that may be left out are left out; None if not known."""
    ways = replace(subject, fixed={name: value}, runs={}, steps=0).run(frozenset())
    if ways is None:
        return None
    forgets = sorted({path for way in ways for path in way.forgets})
    return _tree([(way.taken, _outcome(way.outcome, forgets)) for way in ways], 0)


def _tree(outcomes: list[tuple[tuple[tuple[bool, str], ...], dict[str, Any]]], depth: int) -> Any:
    if len(outcomes) == 1:
        return outcomes[0][1]
    sides: dict[bool, Any] = {}
    words = ""
    for side in (True, False):
        chosen = [one for one in outcomes if one[0][depth][0] is side]
        if chosen:
            sides[side] = _tree(chosen, depth + 1)
            said = chosen[0][0][depth][1]
            words = said if side else said[len("not (") : -1]
    # A side that always raises is not there: the program went the other way.
    return ["if", words, sides[True], sides[False]] if len(sides) == 2 else next(iter(sides.values()))


class Combine:
    """Puts the runs of a subject together: what of the outcome depends on which parameters."""

    def __init__(self, subject: Subject, singles: Mapping[str, list[Way]]) -> None:
        self.subject = subject
        self.singles = singles
        self.names = frozenset(singles)
        self.defaults = {
            parameter.name: bare(subject.encoder.encode(parameter.default))
            for parameter in subject.parameters
            if parameter.default is not MISSING
        }
        # Parameters on which the way through the function depends are the ones that make joint runs fail.
        self.steady = frozenset(name for name, ways in singles.items() if len(ways) == 1)

    def node(self, path: tuple[Any, ...], base: Node) -> Node:
        others = {name: [at(way.outcome, path[1:]) for way in ways] for name, ways in self.singles.items()}
        plain = bare(base)
        changing = {name for name, nodes in others.items() if any(bare(node) != plain for node in nodes)}
        if len(self.names) <= 1 and not changing:
            return base
        if not changing and self._holds(self.names, path, plain):
            return base
        joint = [at(way.outcome, path[1:]) for way in self._joint(self.names) or ()]
        inner = self._inside(path, base, [*joint, *(node for nodes in others.values() for node in nodes)])
        return inner if inner is not None else self._leaf(path, base, plain, others, changing)

    def _inside(self, path: tuple[Any, ...], base: Node, others: Sequence[Node]) -> Node | None:
        """`base` with its parts put together one by one, where all runs agree on its shape."""
        if not isinstance(base, list) or not all(isinstance(node, list) and node[0] == base[0] for node in others):
            return None
        match base[0]:
            case "obj" if all(node[1] == base[1] for node in others):
                names = dict.fromkeys(name for node in [base, *others] for name in node[3])
                return [*base[:3], {name: self._field(path, base, name) for name in names}, *base[4:]]
            case "tuple" | "list" if all(len(node) == len(base) for node in others):
                return [base[0], *(self.node((*path, i), base[i]) for i in range(1, len(base)))]
            case "dict" if all([entry[0] for entry in node[1:]] == [entry[0] for entry in base[1:]] for node in others):
                return ["dict", *([e[0], self.node((*path, i), e[1]), *e[2:]] for i, e in enumerate(base) if i)]
            case "def" if all(node[1] == base[1] for node in others):
                return ["def", base[1], self.node((*path, 2), base[2])]
        return None

    def _field(self, path: tuple[Any, ...], base: Node, name: str) -> Node:
        found = base[3].get(name, UNCHANGED)
        return [*found[:-1], self.node((*path, name), found[-1])]

    def _leaf(
        self, path: tuple[Any, ...], base: Node, plain: Any, others: Mapping[str, list[Node]], changing: set[str]
    ) -> Node:
        passed = next(
            (
                name
                for name in sorted(changing)
                if all(node == ["arg", name] for node in others[name]) and self.defaults.get(name, plain) == plain
            ),
            None,
        )
        rest = changing - {passed}
        seen = plain if passed is None else ["arg", passed]
        value = base if passed is None else seen if passed in self.defaults else ["pass", passed, base]
        if self._holds(self.names - rest, path, seen, passed):
            return ["dep", self._list(rest), value] if rest else value
        steady = (self.names - rest) & (self.steady | ({passed} - {None}))
        joint = self.names - steady if self._holds(steady, path, seen, passed) else self.names
        return ["dep", self._list(rest), value, self._list(joint)]

    def _list(self, names: Set[str]) -> list[str] | str:
        return "*" if names == self.names else sorted(names)

    def _holds(
        self, symbolic: frozenset[str], path: tuple[Any, ...], plain: Any, passed: str | None = None
    ) -> bool:
        """Whether the part is `plain` whatever these parameters are (`passed` the one that it is, if it is one)."""
        if symbolic <= {passed}:
            return True
        ways = self._joint(symbolic)
        return ways is not None and all(bare(at(way.outcome, path[1:])) == plain for way in ways)

    def _joint(self, symbolic: frozenset[str]) -> list[Way] | None:
        runs = self.subject.runs
        if symbolic not in runs and sum(1 for names in runs if len(names) > 1) >= WITNESSES:
            return None
        return self.subject.run(symbolic)


def at(node: Node, path: Sequence[Any]) -> Node:
    """The part of a node that a path leads to."""
    for step in path:
        if not isinstance(node, list):
            return DEFAULT
        if node[0] == "obj":
            node = node[3].get(step, UNCHANGED)[-1]
        elif node[0] == "dict":
            node = node[step][1]
        elif isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return DEFAULT
    return node


# -- subjects -----------------------------------------------------------------------------------------------------------


def function_subject(encoder: Encoder, function: Function, owner: ClassObject | None = None) -> Subject:
    """A function or, with its class, a method."""
    parameters = _parameters(encoder.machine, function)
    machine = encoder.machine
    module = Module("", "", ast.Module([], []))

    def invoke(given: Mapping[str, Object]) -> Object:
        frame = Frame(module)
        positional = [given[p.name] for p in parameters if p.kind == "p" and p.name in given]
        keywords = {p.name: given[p.name] for p in parameters if p.kind in ("a", "k", "**") and p.name in given}
        return call(machine, function, positional, keywords, function.node, frame)

    return Subject([p for p in parameters if p.kind in ("p", "a", "k", "**")], invoke, encoder, owner)


def _parameters(machine: Machine, function: Function) -> list[Parameter]:
    arguments: ast.arguments = function.node.args
    found = []
    for kind, names in (("p", arguments.posonlyargs), ("a", arguments.args), ("k", arguments.kwonlyargs)):
        for name in (argument.arg for argument in names):
            default = function.defaults.get(name, MISSING)
            found.append(Parameter(name, kind, default, required=default is MISSING))
    if arguments.kwarg is not None:
        found += [Parameter(name, "**") for name in _keys(machine, function, arguments.kwarg)]
    return found


def _keys(machine: Machine, function: Function, parameter: ast.arg) -> list[str]:
    """The keys that `**kwargs: Unpack[SomeTypedDict]` takes."""
    from mfsdp_lint.readers.python.classes import mro
    from mfsdp_lint.readers.python.expressions import evaluate

    note = parameter.annotation
    if not isinstance(note, ast.Subscript) or not ast.unparse(note.value).endswith("Unpack"):
        return []
    try:
        cls = evaluate(machine, note.slice, function.closure or Frame(function.module))
    except Raised:
        return []
    if not isinstance(cls, ClassObject):
        return []
    return [
        node.target.id
        for base in reversed(mro(machine, cls))
        if isinstance(base, ClassObject) and base.node is not None
        for node in base.node.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]


def constructor_subject(encoder: Encoder, cls: ClassObject, names: Sequence[tuple[str, bool, Object]]) -> Subject:
    """Making an instance of a dataclass; `names` are its fields, whether they must be given, and their defaults."""
    machine = encoder.machine
    frame = Frame(cls.module)

    def invoke(given: Mapping[str, Object]) -> Object:
        return instantiate(machine, cls, [], dict(given), None, frame, {})

    return Subject([Parameter(name, "k", default, required) for name, required, default in names], invoke, encoder)
