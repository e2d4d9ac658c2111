"""Entry points: which functions, scripts and modules of a file configure a training run, and what they yield."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mfsdp_lint.core.recipe import Kind, Recipe, Variant
from mfsdp_lint.core.values import Plain
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.configurations import CONTAINER, is_container
from mfsdp_lint.readers.python.eval.imports import ensure_ran, resolve_global
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import TreeSettings
from mfsdp_lint.readers.python.state.calling import call
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.nodes import run_block
from mfsdp_lint.readers.python.state.outcomes import CannotJoin, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    DictObject,
    Function,
    Instance,
    ListObject,
    Object,
    Partial,
    Unknown,
)
from mfsdp_lint.vocabulary.sections import SECTIONS

RUN_LIMIT = 16
"""Execution paths through one entry point that are looked at; one with more yields no recipe."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be run to get a configuration."""

    name: str
    module: Module
    kind: Kind
    line: int
    function: Function | None = None
    arguments: Mapping[str, Plain] | None = None
    cls: ClassObject | None = None
    """The class of a method that needs an object of it, or the class itself, to be called."""
    partial: Partial | None = None
    """What a module calls the function by, with some of its arguments given."""

    @property
    def qualified_name(self) -> str:
        """Dotted, from the import root."""
        return f"{self.module.name}.{self.name}"


def functions(machine: Machine, module: Module) -> list[Entry]:
    """The functions that a module itself defines at its top level."""
    ensure_ran(machine, module)
    found = []
    for node in module.tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        value = resolve_global(machine, module, node.name)
        if isinstance(value, Function) and value.node is node:
            found.append(Entry(node.name, module, "function", node.lineno, value))
    return found


def partials(machine: Machine, module: Module) -> Iterable[Entry]:
    """The functions that a module calls by another name, with some of their arguments given (`functools.partial`)."""
    ensure_ran(machine, module)
    for name, line in _assigned(module).items():
        value: Any = module.fields.get(name, MISSING)
        if isinstance(value, Partial) and isinstance(value.function, Function):
            yield Entry(name, module, "function", line, value.function, partial=value)


def may_configure(entry: Entry) -> bool:
    """Whether a function's text gives reason to run it: it hands something back, or names a part of a configuration."""
    assert entry.function is not None
    returns = parts = False
    for node in ast.walk(entry.function.node):
        returns = returns or (isinstance(node, ast.Return) and node.value is not None)
        parts = parts or (isinstance(node, ast.Attribute) and node.attr in SECTIONS)
        parts = parts or (isinstance(node, ast.keyword) and node.arg in SECTIONS)
    return parts or (returns and not needs_arguments(entry)) or says_container(entry.function.node)


def says_container(node: ast.FunctionDef) -> bool:
    return node.returns is not None and CONTAINER in ast.unparse(node.returns)


def needs_arguments(entry: Entry) -> bool:
    """Whether a parameter has no default."""
    assert entry.function is not None
    return any(name not in entry.function.defaults for name in open_parameters(entry))


def open_parameters(entry: Entry) -> list[str]:
    """The parameters of a function that are neither its object nor given by `functools.partial`."""
    assert entry.function is not None
    parameters = entry.function.node.args
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    names = [*positional[positional_given(entry) :], *(parameter.arg for parameter in parameters.kwonlyargs)]
    return [name for name in names if entry.partial is None or name not in entry.partial.keywords]


def positional_given(entry: Entry) -> int:
    """How many positional parameters need no argument."""
    return (entry.cls is not None) + (len(entry.partial.arguments) if entry.partial is not None else 0)


def run(machine: Machine, entry: Entry, spans: Spans) -> Recipe | None:
    """All execution paths through an entry point as one recipe; None where it yields no configuration."""
    pending: list[tuple[bool, ...]] = [()]
    variants: list[Variant] = []
    partial = configures = False
    idle: list[tuple[Unknown, Variant]] = []
    changed: set[str] = set()
    runs = 0
    while pending:
        prefix = pending.pop()
        runs += 1
        if runs > RUN_LIMIT:
            return None
        machine.begin(prefix)
        try:
            root, given = _configuration(machine, entry)
        except (Raised, RecursionError):
            root, given = None, []
        except (OutOfSteps, CannotJoin):
            machine.finish()
            return None
        taken = machine.path.taken
        pending += [
            (*(outcome for outcome, _ in taken[:position]), not taken[position][0])
            for position in range(len(taken) - 1, len(prefix) - 1, -1)
        ]
        if root is not None:
            partial = partial or not isinstance(root, Instance)
            configures = configures or _yields_configuration(machine, root) or root is _launched(machine)
            variants.append(_variant(machine, root, spans))
            changed.update(value.text for value in given if value is root)
        else:
            idle += [(value, _variant(machine, value, spans)) for value in given]
    machine.finish()
    # A function that is there to change what it is given may leave that as it is on some paths.
    variants += [variant for value, variant in idle if value.text in changed]
    if not configures:
        return None
    arguments = dict(entry.arguments or {})
    return Recipe(
        entry.name, entry.qualified_name, entry.module.path, entry.line, entry.kind, tuple(variants), partial, arguments
    )


def _variant(machine: Machine, root: Object, spans: Spans) -> Variant:
    environment = machine.path.environment
    if machine.touched_older(0, machine.path.started + 1):
        # Something that modules share was changed: keep it as it is now, before that is undone.
        copies: dict[int, Object] = {}
        root = deep_copy(machine, root, copies)
        environment = deep_copy(machine, environment, copies)
    when = tuple(words for _, words in machine.path.taken)
    return Variant(TreeSettings(machine, root, environment, spans), when)


def _configuration(machine: Machine, entry: Entry) -> tuple[Object, list[Unknown]]:
    """What an entry point yields; and of what it is called with, that which is not known."""
    if entry.kind == "function":
        keywords, given = _arguments(machine, entry)
        return _from_function(machine, entry, keywords, given), given
    if entry.kind == "module":
        return resolve_global(machine, entry.module, entry.name), []
    return _from_script(machine, entry), []


def _from_function(machine: Machine, entry: Entry, keywords: dict[str, Object], given: list[Unknown]) -> Object:
    function = entry.function
    assert function is not None
    frame = Frame(entry.module, "", None, None, None)
    receiver = [] if entry.cls is None else [_receiver(machine, entry.cls, function, frame)]
    node = entry.partial.made[0] if entry.partial is not None and entry.partial.made is not None else function.node
    result = call(machine, entry.partial or function, receiver, keywords, node, frame)
    if isinstance(result, Choice):
        configurations = [one for one in result.options if isinstance(one, Unknown) or is_container(machine, one)]
        return one_of(machine, configurations, f"{entry.name}()", RUN_LIMIT) if configurations else None
    if _yields_configuration(machine, result):
        return result
    if isinstance(result, tuple):
        for item in result:
            if is_container(machine, item):
                return item
    for value in given:
        if _changed_from_outside(value):
            return value
    # On other paths the same function may yield a configuration that is known; of this path nothing is.
    result = machine.settle(result)
    if any(result is value for value in given):
        return result
    launched = _launched(machine)
    return result if launched is None and isinstance(result, Unknown) else launched


def _receiver(machine: Machine, cls: ClassObject, function: Function, frame: Frame) -> Object:
    """What a method is called on: its class, or an object of it made without arguments (unknown where that fails)."""
    if any(isinstance(node, ast.Name) and node.id == "classmethod" for node in function.node.decorator_list):
        return cls
    try:
        return call(machine, cls, [], {}, function.node, frame)
    except Raised:
        return machine.unknown("self", not_none=True)


def _arguments(machine: Machine, entry: Entry) -> tuple[dict[str, Object], list[Unknown]]:
    """The arguments that an entry is called with; of these, the ones that are not known."""
    assert entry.function is not None
    keywords = {name: to_object(machine, value) for name, value in (entry.arguments or {}).items()}
    unknown: dict[str, Unknown] = {}
    for name in open_parameters(entry):
        if name not in keywords and name not in entry.function.defaults:
            unknown[name] = machine.unknown(name)
    return {**keywords, **unknown}, list(unknown.values())


def to_object(machine: Machine, value: Plain) -> Object:
    """A plain value as the evaluator has it."""
    if isinstance(value, list):
        return ListObject([to_object(machine, item) for item in value], machine.tick())
    if isinstance(value, dict):
        return DictObject({key: to_object(machine, item) for key, item in value.items()}, machine.tick())
    return value


def _yields_configuration(machine: Machine, value: Object) -> bool:
    return is_container(machine, value) or _changed_from_outside(value)


def _changed_from_outside(value: Object) -> bool:
    """An unknown object into which settings were written: a configuration that comes from elsewhere."""
    if not isinstance(value, Unknown):
        return False
    return any(
        name in SECTIONS and isinstance(part, (Unknown, DictObject)) and bool(part.writes)
        for name, part in value.fields.items()
        if isinstance(name, str)
    ) or any(name in SECTIONS for name in value.writes if isinstance(name, str))


def _launched(machine: Machine) -> Object:
    if not machine.path.launched:
        return None
    return machine.path.launched[-1][1]


def script(machine: Machine, module: Module) -> Entry | None:
    """A module's `if __name__ == "__main__":` part as an entry point."""
    for node in module.tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test):
            return Entry(module.name.rpartition(".")[2], module, "script", node.lineno)
    return None


def _from_script(machine: Machine, entry: Entry) -> Object:
    source = entry.module
    main = Module(source.path, source.name, source.tree)
    main.ran = True
    main.born = machine.tick()
    main.fields["__name__"] = "__main__"
    frame = Frame(main, born=main.born)
    frame.fields, frame.bound = main.fields, main.bound
    try:
        run_block(machine, source.tree.body, frame)
    except Raised as error:
        if error.name != "SystemExit":
            raise
    launched = _launched(machine)
    if launched is not None:
        return launched
    found = [value for value in main.fields.values() if is_container(machine, value)]
    return found[-1] if found else None


def module_configurations(machine: Machine, module: Module) -> Iterable[Entry]:
    """Configurations that a module keeps in a global name."""
    ensure_ran(machine, module)
    for name, line in _assigned(module).items():
        value: Any = module.fields.get(name, MISSING)
        if is_container(machine, value):
            yield Entry(name, module, "module", line)


def _assigned(module: Module) -> dict[str, int]:
    """The names that a module's top level assigns to, and where."""
    return {
        target.id: node.lineno
        for node in module.tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
