"""Effects of a function, found by evaluating it: once with its defaults, then with unknown parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mfsdp_lint.readers.python.eval.classes import fields_of, mro
from mfsdp_lint.readers.python.eval.construction import instantiate
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import STEP_LIMIT, CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import MISSING, Function, Instance, Object, Unknown
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.making.combine import Combine
from mfsdp_lint.snapshots.making.encode import MARK, Encoder, bare, path_of

RUN_STEPS = 20_000
SUBJECT_STEPS = 80_000
LOOK_STEPS = 6_000
"""Steps of the evaluator for one run, for all of one function, and for a first look at one that does not say that it
returns a configuration; what takes longer makes models."""


class Watching(Interpreter):
    """An interpreter that gives up early, and remembers which arguments (or parts) something out of sight had."""

    most_steps = STEP_LIMIT

    def begin(self, decisions: tuple[bool, ...]) -> None:
        self.forgotten: set[tuple[str, ...]] = set()
        super().begin(decisions)
        self.path.limit = self.most_steps

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
            self.interp.most_steps = STEP_LIMIT
        return self.runs[symbolic]

    def outcome(self, symbolic: frozenset[str]) -> Node | None:
        """Return the outcome of `run`."""
        run = self.run(symbolic)
        return None if run is None else run.outcome

    def _run(self, symbolic: frozenset[str]) -> SubjectRun | None:
        interp = self.interp
        interp.begin(())
        given = self._given(symbolic)
        try:
            result = self.invoke(given)
            # Paths through upstream code are joined where a call returns, so there is only one.
            return None if interp.path.taken else self._seen(result, given)
        except (Raised, CannotJoin, OutOfSteps, RecursionError):
            return None
        finally:
            self.steps += interp.path.steps
            interp.finish()

    def _given(self, symbolic: frozenset[str]) -> dict[str, Object]:
        given: dict[str, Object] = {}
        for parameter in self.parameters:
            if parameter.name in self.fixed:
                given[parameter.name] = self.fixed[parameter.name]
            elif parameter.name in symbolic or parameter.required:
                given[parameter.name] = self._unknown(parameter.name)
        return given

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
    writes = [
        [key[2:].split("."), field[1] if field[0] == "w" else None, field[-1]]
        for key, field in fields.items()
        if key[0] == "w"
    ]
    environment = [
        [key[2:], field[1] if field[0] == "w" else None, field[-1]] for key, field in fields.items() if key[0] == "e"
    ]
    if writes:
        found["writes"] = writes
    if environment:
        found["environment"] = environment
    if forgets:
        found["forgets"] = [list(path) for path in forgets]
    return found


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


def constructor_subject(encoder: Encoder, cls: ClassObject, names: Sequence[tuple[str, bool, Object]]) -> CallSubject:
    """Make the subject of a dataclass's constructor; `names` are fields, whether each is required, and defaults."""
    interp = encoder.interp
    frame = Frame(cls.module)

    def perform(given: Mapping[str, Object]) -> Object:
        return instantiate(interp, cls, Call([], dict(given), None, frame, {}))

    return CallSubject([Parameter(name, "k", default, required) for name, required, default in names], perform, encoder)
