"""Upstream's functions, as the evaluator calls them: by what the snapshot says of each.

Start-up's own functions, called in a recipe: what they do to its settings is what startup/ knows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core.recipe import Origin, Span, Variant
from mfsdp_lint.core.values import Known, NotNone, OneOf, Plain, Value
from mfsdp_lint.megatron.startup import Phase
from mfsdp_lint.megatron.startup.resolve import Change, changes_of
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write
from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.blocks import isolated
from mfsdp_lint.readers.python.eval.configurations import is_container
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.models import LIBRARY
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    External,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Unknown,
)
from mfsdp_lint.snapshots import Node
from mfsdp_lint.snapshots.build import Builder, apply
from mfsdp_lint.snapshots.forgetting import forget_names, only_upstream

if TYPE_CHECKING:
    from mfsdp_lint.snapshots.knowledge import SnapshotKnowledge


STARTS: dict[str, frozenset[Phase]] = {
    "megatron.bridge.training.config.runtime_config_update": frozenset(("update", "validation")),
    "megatron.bridge.training.config.ConfigContainer.validate": frozenset(("validation",)),
}
"""The functions that are phases of the start-up, by their dotted names."""

MAKERS = {"mixed_precision": ("megatron.bridge.training.mixed_precision", "get_mixed_precision_config")}
"""The functions by which start-up makes a section that is given as a name."""

Kept = tuple[Instance | Unknown, str, Object, Any]


def start(
    interp: Interpreter,
    target: Target,
    phases: frozenset[Phase],
    container: Instance,
    forget: Callable[[], None],
    make: Callable[[str, str], Object],
    frame: Frame,
) -> None:
    """Take these phases of the start-up on a container.

    `forget` loses what they may change, and what is known of that is put back.
    `make` is asked for the section of a name. `frame` is the call of the function that does it.
    """
    settings = TreeSettings(interp, container, interp.path.environment, Spans(interp))
    changes = changes_of(Variant(settings), target, phases)
    kept = list(_kept(interp, container))
    named = [(name, each) for name in MAKERS if isinstance(each := container.fields.get(name), str)]
    forget()
    for owner, name, value, before in kept:
        if owner.fields.get(name, MISSING) is not value:
            interp.put(owner, name, value)
            if before is not None:
                interp.record(owner, name, before)
    for name, each in named:
        if any(change.path.startswith(f"{name}.") for change in changes):
            set_attribute(interp, container, name, make(name, each), frame.node, frame, None, "upstream")
    for change in {change.path: change for change in changes}.values():
        _carry_out(interp, container, change, frame)


def container_of(interp: Interpreter, arguments: Iterable[Object]) -> Instance | None:
    """Return the configuration that a call of such a function gets; None if it is not known."""
    found = [interp.settle(value) for value in arguments]
    match found:
        case [Instance() as one] if is_container(interp, one):
            return one
    return None


def _kept(interp: Interpreter, container: Instance) -> Iterable[Kept]:
    """Yield the current values of the settings that start-up is known for, and of the sections they are in."""
    seen = set()
    for path in SETTINGS:
        owner: Object = container
        for name in path.split("."):
            if not isinstance(owner, (Instance, Unknown)) or name not in owner.fields:
                break
            value = owner.fields[name]
            if (id(owner), name) not in seen:
                seen.add((id(owner), name))
                yield owner, name, value, owner.writes.get(name)
            owner = interp.settle(value)


def _carry_out(interp: Interpreter, container: Instance, change: Change, frame: Frame) -> None:
    value = _object(interp, change.path, change.after)
    node: Any = frame.node
    if (place := change.place) is not None:
        span = Span(place.path, place.line, 1, place.line, 1)
        node = Origin(span, "upstream", None, frame.function, place.release)
    if change.path.startswith(ENVIRONMENT):
        name = change.path.removeprefix(ENVIRONMENT)
        write(interp, interp.path.environment, name, value, node, frame, None, "upstream")
        return
    *sections, name = change.path.split(".")
    owner: Object = container
    try:
        for section in sections:
            owner = get_attribute(interp, owner, section, None, frame)
        set_attribute(interp, owner, name, value, node, frame, None, "upstream")
    except Raised:
        return


def _object(interp: Interpreter, path: str, value: Value) -> Object:
    match value:
        case Known(plain):
            return _plain(interp, plain)
        case OneOf(values):
            return Choice(tuple(_plain(interp, each) for each in values))
        case NotNone():
            return interp.unknown(path, not_none=True)
    return interp.unknown(path)


def _plain(interp: Interpreter, value: Plain) -> Object:
    match value:
        case list():
            return ListObject([_plain(interp, item) for item in value], interp.tick())
        case dict():
            return DictObject({key: _plain(interp, item) for key, item in value.items()}, interp.tick())
        case str() if value.startswith("torch."):
            return External(value)
    return value


REQUIRED: Node = ["required"]
ANY_PARAMETERS: Node = [["args", "*", REQUIRED], ["kwargs", "**", REQUIRED]]


def upstream_function(
    knowledge: SnapshotKnowledge,
    interp: Interpreter,
    module: Module,
    name: str,
    described: Any,
    owner: ClassObject | None = None,
) -> Function:
    """Make a function by its summary; without one, a call of it is not followed."""
    parameters: Any = (described or {}).get("parameters", ANY_PARAMETERS)
    function = Function(definition(name, parameters), module, None, name, owner)

    def make() -> None:
        builder = Builder(knowledge, interp, module)
        for parameter, _, node in parameters:
            if node != REQUIRED:
                function.defaults[parameter] = builder.build(node)

    isolated(interp, make)
    full = f"{module.name}.{name}"
    phases = STARTS.get(full if owner is None else f"{module.name}.{owner.name}.{name}")

    def run(interp: Interpreter, call: Call) -> Object:
        passed = [*call.arguments, *call.keywords.values()]
        if phases is not None and _start(knowledge, interp, function, phases, described, passed, call.node, call.frame):
            return None
        if not described or knowledge.is_replaced_below(interp, module.name):
            return unfollowed(interp, full, call)
        return apply(knowledge, interp, function, described, call)

    function.unwrapped = Native(full, LIBRARY.get(full, run))
    return function


def _start(
    knowledge: SnapshotKnowledge,
    interp: Interpreter,
    function: Function,
    phases: frozenset[Phase],
    described: Any,
    passed: list[Object],
    node: Any,
    frame: Frame,
) -> bool:
    """Take phases of the start-up on what a call is given; False where that cannot be told."""
    container = container_of(interp, passed)
    if container is None or not only_upstream(interp, [container]):
        return False

    def forget() -> None:
        bound = (described or {}).get("bound")
        if bound is None or not forget_names(interp, [container], bound[0], bound[1]):
            forget_reachable(interp, container)

    def make(section: str, name: str) -> Object:
        return invoke(interp, knowledge.reference(interp, *MAKERS[section]), Call([name], {}, node, frame))

    inner = Frame(function.module, function.name, None, frame, node, interp.tick())
    start(interp, knowledge.target, phases, container, forget, make, inner)
    return True


def definition(name: str, parameters: list[Any]) -> ast.FunctionDef:
    """Build the signature of a function as a syntax tree; its body is not known."""

    def named(kind: str) -> list[ast.arg]:
        return [ast.arg(parameter, lineno=1, col_offset=0) for parameter, its, _ in parameters if its == kind]

    arguments = ast.arguments(
        posonlyargs=named("p"),
        args=named("a"),
        vararg=next(iter(named("*")), None),
        kwonlyargs=named("k"),
        kw_defaults=[],
        kwarg=next(iter(named("**")), None),
        defaults=[],
    )
    return ast.FunctionDef(name, arguments, [ast.Pass()], [], lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
