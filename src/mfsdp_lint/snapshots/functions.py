"""Upstream's functions, as the evaluator calls them: by what the snapshot says of each."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from mfsdp_lint.readers.python.eval.blocks import isolated
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import Function, Native, Object
from mfsdp_lint.snapshots.build import Builder, apply
from mfsdp_lint.snapshots.forgetting import forget_names, only_upstream
from mfsdp_lint.snapshots.snapshot import Node
from mfsdp_lint.snapshots.starting import MAKERS, STARTS, container_of, start
from mfsdp_lint.startup.steps import Phase

if TYPE_CHECKING:
    from mfsdp_lint.snapshots.knowledge import Knowledge

REQUIRED: Node = ["required"]
ANY_PARAMETERS: Node = [["args", "*", REQUIRED], ["kwargs", "**", REQUIRED]]


def upstream_function(
    knowledge: Knowledge, machine: Machine, module: Module, name: str, described: Any, owner: ClassObject | None = None
) -> Function:
    """A function by its summary; without one, a call of it is not followed."""
    parameters: Any = (described or {}).get("parameters", ANY_PARAMETERS)
    function = Function(definition(name, parameters), module, None, name, owner)

    def make() -> None:
        builder = Builder(knowledge, machine, module)
        for parameter, _, node in parameters:
            if node != REQUIRED:
                function.defaults[parameter] = builder.build(node)

    isolated(machine, make)
    full = f"{module.name}.{name}"
    phases = STARTS.get(full if owner is None else f"{module.name}.{owner.name}.{name}")

    def run(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Any) -> Object:
        passed = [*arguments, *keywords.values()]
        if phases is not None and _start(knowledge, machine, function, phases, described, passed, node, frame):
            return None
        if not described:
            return unfollowed(machine, full, arguments, keywords, node, frame)
        return apply(knowledge, machine, function, described, arguments, keywords, node, frame)

    function.unwrapped = Native(full, LIBRARY.get(full, run))
    return function


def _start(
    knowledge: Knowledge,
    machine: Machine,
    function: Function,
    phases: frozenset[Phase],
    described: Any,
    passed: list[Object],
    node: Any,
    frame: Frame,
) -> bool:
    """Take phases of the start-up on what a call is given; False where that cannot be told."""
    container = container_of(machine, passed)
    if container is None or not only_upstream(machine, [container]):
        return False

    def forget() -> None:
        bound = (described or {}).get("bound")
        if bound is None or not forget_names(machine, [container], bound[0], bound[1]):
            havoc(machine, container)

    def make(section: str, name: str) -> Object:
        return call(machine, knowledge.reference(machine, *MAKERS[section]), [name], {}, node, frame)

    inner = Frame(function.module, function.name, None, frame, node, machine.tick())
    start(machine, knowledge.target, phases, container, forget, make, inner)
    return True


def definition(name: str, parameters: list[Any]) -> ast.FunctionDef:
    """The signature of a function as a syntax tree; its body is not known."""

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
