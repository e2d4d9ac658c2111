"""Effects of a function, found by evaluating it: once with its defaults, then with unknown parameters.

The runs are combined: a part of the outcome is independent of parameters only if it stayed the same in one run in which
all of these were unknown at once, so the summary is sound by construction. The runs with one unknown parameter say
which ones to try.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from mfsdp_lint.readers.python.eval.classes import fields_of, mro
from mfsdp_lint.readers.python.eval.construction import instantiate
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    ClassObject,
    Frame,
    Function,
    Instance,
    Module,
    Object,
    Unknown,
)
from mfsdp_lint.snapshots import Node
from tools.snapshot.encode import MARK, Encoder, bare, path_of

WITNESSES = 24
"""Runs with several unknown parameters, for one function."""
DEFAULT: Node = ["default"]
UNCHANGED: Node = ["u", DEFAULT]

Path = tuple[Any, ...]


class Combine:
    """The runs of one function.

    `singles` are the outcomes with one parameter unknown each, `defaults` the (bare) nodes of the parameters' defaults,
    `run` gives the outcome with any of them unknown.
    """

    def __init__(
        self,
        singles: Mapping[str, Node],
        defaults: Mapping[str, Node],
        run: Callable[[frozenset[str]], Node | None],
    ) -> None:
        self.singles = singles
        self.defaults = defaults
        self.names = frozenset(singles)
        self._run = run
        self._joint: dict[frozenset[str], Node | None] = {}
        self._parts: dict[frozenset[str], Combine] = {}

    def node(self, path: Path, base: Node) -> Node:
        """Combine the part of the outcome at `path`, which is `base` if nothing is passed, with its dependencies."""
        others = {name: at(outcome, path) for name, outcome in self.singles.items()}
        plain = bare(base)
        changing = {name for name, node in others.items() if bare(node) != plain}
        if not changing and self._holds(self.names, path, plain):
            return base
        together = self._outcome(self.names)
        nodes = list(others.values()) if together is None else [*others.values(), at(together, path)]
        inner = self._inside(path, base, nodes)
        if inner is None:
            inner = self._inside_unless(path, base, others)
        return inner if inner is not None else self._leaf(path, base, plain, others, changing)

    def _inside_unless(self, path: Path, base: Node, others: Mapping[str, Node]) -> Node | None:
        """Combine `base` from the runs without the parameters that give it another shape, if these are few.

        A parameter that picks the class of an object says nothing about the effect of the others on it.
        """
        if not isinstance(base, list) or base[0] != "obj":
            return None
        shaping = frozenset(name for name, node in others.items() if not _same_object(base, node))
        if not shaping or shaping == self.names:
            return None
        if shaping not in self._parts:
            singles = {name: outcome for name, outcome in self.singles.items() if name not in shaping}
            self._parts[shaping] = Combine(singles, self.defaults, self._run)
        rest = self._parts[shaping]
        together = rest._outcome(rest.names)
        nodes = [node for name, node in others.items() if name not in shaping]
        inner = None if together is None else rest._inside(path, base, [*nodes, at(together, path)])
        return None if inner is None else ["dep", sorted(shaping), inner]

    def _inside(self, path: Path, base: Node, others: Sequence[Node]) -> Node | None:
        """Combine the parts of `base` one by one, if all runs agree on its shape."""
        if not isinstance(base, list) or not all(isinstance(node, list) and node[0] == base[0] for node in others):
            return None
        match base[0]:
            case "obj" if all(_same_object(base, node) for node in others):
                names = dict.fromkeys(name for node in [base, *others] for name in node[3])
                fields = {name: base[3].get(name, UNCHANGED) for name in names}
                made = {name: [*each[:-1], self.node((*path, name), each[-1])] for name, each in fields.items()}
                return [*base[:3], made, *base[4:]]
            case "tuple" | "list" if all(len(node) == len(base) for node in others):
                return [base[0], *(self.node((*path, i), base[i]) for i in range(1, len(base)))]
            case "dict" if all([entry[0] for entry in node[1:]] == [entry[0] for entry in base[1:]] for node in others):
                return ["dict", *([e[0], self.node((*path, i), e[1]), *e[2:]] for i, e in enumerate(base) if i)]
            case "def" if all(node[1] == base[1] for node in others):
                return ["def", base[1], self.node((*path, 2), base[2])]
        return None

    def _leaf(self, path: Path, base: Node, plain: Any, others: Mapping[str, Node], changing: Set[str]) -> Node:
        passed = next((name for name in sorted(changing) if others[name] == ["arg", name]), None)
        rest = changing - {passed}
        seen = plain if passed is None else ["arg", passed]
        value = base
        if passed is not None:
            value = seen if self.defaults.get(passed) == plain else ["pass", passed, base]
        if not self._holds(self.names - rest, path, seen, passed):
            return ["dep", self._list(rest), value, "*"]
        return ["dep", self._list(rest), value] if rest else value

    def _list(self, names: Set[str]) -> list[str] | str:
        return "*" if names == self.names else sorted(names)

    def _holds(self, symbolic: frozenset[str], path: Path, plain: Any, passed: str | None = None) -> bool:
        """Tell whether the part is `plain` for all values of these parameters (`passed` is one that it equals)."""
        if symbolic <= {passed}:
            return True
        outcome = self._outcome(symbolic)
        return outcome is not None and bare(at(outcome, path)) == plain

    def _outcome(self, symbolic: frozenset[str]) -> Node | None:
        if len(symbolic) == 1:
            return self.singles[next(iter(symbolic))]
        if symbolic not in self._joint:
            self._joint[symbolic] = self._run(symbolic) if len(self._joint) < WITNESSES else None
        return self._joint[symbolic]


def _same_object(base: Node, node: Node) -> bool:
    """Tell whether two nodes describe the same object, so that only their fields have to be compared."""
    return isinstance(node, list) and node[0] == "obj" and node[1] == base[1] and node[4:] == base[4:]


def at(node: Node, path: Path) -> Node:
    """Find the part of a node that a path leads to."""
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


RUN_STEPS = 20_000
SUBJECT_STEPS = 80_000
LOOK_STEPS = 6_000
"""Steps of the evaluator for one run, for all of one function, and for a first look at one that does not say that it
returns a configuration; what takes longer makes models."""


class Watching(Interpreter):
    """An interpreter that gives up early, and remembers which arguments (or parts) something out of sight had."""

    most_steps = SUBJECT_STEPS

    def begin(self, decisions: tuple[bool, ...]) -> None:
        self.forgotten: set[tuple[str, ...]] = set()
        self.forgiven = 0
        super().begin(decisions)
        self.path.limit, self.path.budget = self.most_steps, SUBJECT_STEPS

    def forgive(self, steps: int) -> None:
        """Count no steps after the first `steps`. Raises OutOfSteps where that was done for too many."""
        self.forgiven += self.path.steps - steps
        if self.forgiven > SUBJECT_STEPS:
            raise OutOfSteps
        super().forgive(steps)

    def found_configuration(self) -> None:
        """Do nothing: a helper that makes no configuration is summarised as well."""

    def forgetting(self, value: Object) -> None:
        path = path_of(value)
        if path is not None:
            self.forgotten.add(path)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: `kind` as in a snapshot; `default` is MISSING where it must be given, and for what `**` takes."""

    name: str
    kind: str
    default: Object = MISSING
    required: bool = False


@dataclass(frozen=True, slots=True)
class SubjectRun:
    """A run: its outcome, an "obj" node of the result and all changes, and the arguments that were out of sight."""

    outcome: Node
    forgets: frozenset[tuple[str, ...]]


@dataclass(slots=True)
class CallSubject:
    """A function or constructor to summarise: `invoke` runs it with the objects of some parameters.

    `fixed` are arguments with a known value, `owner` is the class of a method.
    """

    parameters: Sequence[Parameter]
    invoke: Callable[[Mapping[str, Object]], Object]
    encoder: Encoder
    owner: ClassObject | None = None
    runs: dict[frozenset[str], SubjectRun | None] = field(default_factory=dict)
    steps: int = 0
    limit: int = RUN_STEPS
    fixed: Mapping[str, Object] = field(default_factory=dict)

    @property
    def interp(self) -> Watching:
        """The evaluator, which is that of the encoder."""
        interp = self.encoder.interp
        assert isinstance(interp, Watching)
        return interp

    def run(self, symbolic: frozenset[str]) -> SubjectRun | None:
        """Run it with these parameters unknown (required ones always are); None if there is no answer."""
        if symbolic not in self.runs:
            self.interp.most_steps = self.limit
            self.runs[symbolic] = self._run(symbolic) if self.steps < SUBJECT_STEPS else None
            self.interp.most_steps = SUBJECT_STEPS
        return self.runs[symbolic]

    def outcome(self, symbolic: frozenset[str]) -> Node | None:
        """Return the outcome of `run`."""
        run = self.run(symbolic)
        return None if run is None else run.outcome

    def _run(self, symbolic: frozenset[str]) -> SubjectRun | None:
        interp = self.interp
        interp.begin(())
        given: dict[str, Object] = {}
        for parameter in self.parameters:
            if parameter.name in self.fixed:
                given[parameter.name] = self.fixed[parameter.name]
            elif parameter.name in symbolic or parameter.required:
                given[parameter.name] = self._unknown(parameter.name)
        try:
            result = self.invoke(given)
            # Paths through upstream code are joined where a call returns, so there is only one.
            return None if interp.path.taken else self._seen(result, given)
        except (Raised, CannotJoin, OutOfSteps, RecursionError):
            return None
        finally:
            self.steps += interp.path.steps
            interp.finish()

    def _unknown(self, name: str) -> Object:
        if name != "self" or self.owner is None:
            return self.interp.unknown(MARK + name)
        instance = Instance(self.owner, self.interp.tick())
        for spec in fields_of(self.interp, self.owner):
            instance.fields[spec.name] = self.interp.unknown(f"{MARK}{name}.{spec.name}")
        return instance

    def _seen(self, result: Object, given: Mapping[str, Object]) -> SubjectRun:
        interp, encoder = self.interp, self.encoder
        hazy = {
            (name,)
            for name, value in given.items()
            if isinstance(value, Instance) and value.writes.get(MAY_HAVE_CHANGED)
        }
        encoder.arguments, encoder.changed = given, frozenset(interp.forgotten | hazy)
        changes: list[tuple[int, str, Node]] = []
        for name, value in given.items():
            for path, write, item in _writes((name,), value, 0):
                changes.append((write.order, "w:" + ".".join(path), ["w", encoder.write(write), encoder.encode(item)]))
        for name, write in interp.path.environment.writes.items():
            if isinstance(name, str) and hasattr(write, "order"):
                value = interp.path.environment.fields.get(name)
                changes.append((write.order, "e:" + name, ["w", encoder.write(write), encoder.encode(value)]))
        fields = {"result": ["u", encoder.encode(result)]}
        fields.update((key, node) for _, key, node in sorted(changes, key=lambda change: change[0]))
        return SubjectRun(["obj", None, None, fields], encoder.changed)


def _writes(path: tuple[str, ...], value: Object, depth: int) -> Iterator[tuple[tuple[str, ...], Any, Object]]:
    """Yield the writes into an argument."""
    if not isinstance(value, (Unknown, Instance)) or depth > 6:
        return
    for key, item in value.fields.items():
        if not isinstance(key, str):
            continue
        write = value.writes.get(key)
        if hasattr(write, "order"):
            yield (*path, key), write, item
        else:
            yield from _writes((*path, key), item, depth + 1)


def _described(node: Node, forgets: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    fields = dict(node[3])
    found: dict[str, Any] = {"result": fields.pop("result")[1]}
    told = [(key[0], key[2:], field[1] if field[0] == "w" else None, field[-1]) for key, field in fields.items()]
    more = {
        "writes": [[path.split("."), place, node] for kind, path, place, node in told if kind == "w"],
        "environment": [[name, place, node] for kind, name, place, node in told if kind == "e"],
        "forgets": [list(path) for path in forgets],
    }
    return found | {name: each for name, each in more.items() if each}


def says_something(outcome: Mapping[str, Any]) -> bool:
    """Tell whether an outcome has more information than that there is one."""
    result = outcome["result"]
    if outcome.get("writes") or outcome.get("environment"):
        return True
    while isinstance(result, list) and result[0] in ("dep", "def", "pass"):
        result = result[2]
    if not isinstance(result, list):
        return result is not None
    return result[0] not in ("?", "ext", "arg") or bool(result[0] == "?" and result[3])


def promises(subject: CallSubject) -> bool:
    """Tell whether a subject's outcome can have information, judged by its run with nothing passed."""
    base = replace(subject, runs={}, limit=LOOK_STEPS).run(frozenset())
    return base is not None and says_something(_described(base.outcome, ()))


def summarise(subject: CallSubject) -> tuple[dict[str, Any], list[str]] | None:
    """Find the outcome of a subject, and the parameters whose default it depends on to be known.

    None if nothing is known at all.
    """
    base = subject.run(frozenset())
    if base is None:
        return None
    optional = [parameter.name for parameter in subject.parameters if not parameter.required]
    together = subject.run(frozenset(optional))
    # Most methods of a provider build models: they only read and compute, for all arguments.
    if (
        together is not None
        and bare(base.outcome) == bare(together.outcome)
        and not says_something(_described(base.outcome, ()))
    ):
        return _described(base.outcome, sorted(base.forgets | together.forgets)), []
    singles = {name: subject.run(frozenset({name})) for name in optional}
    known = {name: run for name, run in singles.items() if run is not None}
    forgets = sorted({path for run in (base, *known.values()) for path in run.forgets})
    defaults = {
        parameter.name: bare(subject.encoder.encode(parameter.default))
        for parameter in subject.parameters
        if parameter.default is not MISSING
    }
    combine = Combine({name: run.outcome for name, run in known.items()}, defaults, subject.outcome)
    # What is written and then forgotten leaves nothing to be seen, so writes are carried out after forgetting.
    return _described(combine.node((), base.outcome), forgets), sorted(singles.keys() - known.keys())


def outcome_with(subject: CallSubject, name: str, value: Object) -> dict[str, Any] | None:
    """Find the outcome for a known value of one parameter, with no other optional one; None if it is not known."""
    run = replace(subject, fixed={name: value}, runs={}, steps=0).run(frozenset())
    return None if run is None else _described(run.outcome, sorted(run.forgets))


# -- subjects ----------------------------------------------------------------------------------------------------


def function_subject(encoder: Encoder, function: Function, owner: ClassObject | None = None) -> CallSubject:
    """Make the subject of a function or, with its class, of a method."""
    parameters = _parameters(encoder.interp, function)
    interp = encoder.interp
    module = Module("", "", ast.Module([], []))

    def perform(given: Mapping[str, Object]) -> Object:
        frame = Frame(module)
        positional = [given[p.name] for p in parameters if p.kind == "p" and p.name in given]
        keywords = {p.name: given[p.name] for p in parameters if p.kind in ("a", "k", "**") and p.name in given}
        return invoke(interp, function, Call(positional, keywords, function.node, frame))

    return CallSubject([p for p in parameters if p.kind in ("p", "a", "k", "**")], perform, encoder, owner)


def _parameters(interp: Interpreter, function: Function) -> list[Parameter]:
    arguments: ast.arguments = function.node.args
    found = []
    for kind, names in (("p", arguments.posonlyargs), ("a", arguments.args), ("k", arguments.kwonlyargs)):
        for one in names:
            name = one.arg
            default = function.defaults.get(name, MISSING)
            found.append(Parameter(name, kind, default, required=default is MISSING))
    if arguments.kwarg is not None:
        found += [Parameter(name, "**") for name in _keys(interp, function, arguments.kwarg)]
    return found


def _keys(interp: Interpreter, function: Function, parameter: ast.arg) -> list[str]:
    """Return the keys that `**kwargs: Unpack[SomeTypedDict]` takes."""
    note = parameter.annotation
    if not isinstance(note, ast.Subscript) or not ast.unparse(note.value).endswith("Unpack"):
        return []
    try:
        cls = evaluate(interp, note.slice, function.closure or Frame(function.module))
    except Raised:
        return []
    if not isinstance(cls, ClassObject):
        return []
    return [
        node.target.id
        for base in reversed(mro(interp, cls))
        if isinstance(base, ClassObject) and base.node is not None
        for node in base.node.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]


def constructor_subject(encoder: Encoder, cls: ClassObject, parameters: Sequence[Parameter]) -> CallSubject:
    """Make the subject of a dataclass's constructor; the parameters are fields."""
    frame = Frame(cls.module)

    def perform(given: Mapping[str, Object]) -> Object:
        return instantiate(encoder.interp, cls, Call([], dict(given), None, frame, {}))

    return CallSubject(parameters, perform, encoder)
