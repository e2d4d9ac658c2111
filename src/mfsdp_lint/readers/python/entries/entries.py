"""Entry points: which functions, scripts and modules of a file configure a training run, and what they yield."""

from __future__ import annotations

import ast
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mfsdp_lint.core.recipe import Kind, Recipe, Variant
from mfsdp_lint.core.values import Plain
from mfsdp_lint.readers.python.entries.yields import (
    RESULT,
    Yield,
    content,
    lines,
    may_be_one,
    path_yields,
    variant_of,
    without_repeats,
)
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.configurations import CONTAINER, SECTIONS, changed_from_outside, is_container
from mfsdp_lint.readers.python.eval.imports import ensure_ran, resolve_global
from mfsdp_lint.readers.python.eval.starting import may_launch
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.calling import call
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
    ListObject,
    Object,
    Partial,
    Unknown,
)

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


def may_configure(machine: Machine, entry: Entry) -> bool:
    """Whether a function's text gives reason to run it.

    It hands something back, names a part of a configuration, or comes to a launcher.
    """
    assert entry.function is not None
    returns = parts = False
    for node in ast.walk(entry.function.node):
        returns = returns or (isinstance(node, ast.Return) and node.value is not None)
        parts = parts or (isinstance(node, ast.Attribute) and node.attr in SECTIONS)
        parts = parts or (isinstance(node, ast.keyword) and node.arg in SECTIONS)
    if parts or (returns and not needs_arguments(entry)) or says_container(entry.function.node):
        return True
    return may_launch(machine, entry.function)


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


@dataclass(frozen=True, slots=True)
class Found:
    """A recipe of an entry point. `launched` says that the entry point launches it; of a script, `names` are the global
    names of the configuration.
    """

    recipe: Recipe
    launched: bool = False
    names: frozenset[str] = frozenset()


def run(machine: Machine, entry: Entry, spans: Spans) -> list[Found]:
    """All execution paths through an entry point: a recipe for each configuration that it launches or hands back."""
    pending: list[tuple[bool, ...]] = [()]
    found: dict[Hashable, list[Yield]] = {}
    idle: list[tuple[Unknown, Variant]] = []
    changed: set[str] = set()
    runs = 0
    complete = True
    while pending and complete:
        prefix = pending.pop()
        runs += 1
        if runs > RUN_LIMIT:
            complete = False
            break
        machine.begin(prefix)
        root: Object = None
        given: list[Unknown] = []
        names: dict[str, Object] = {}
        try:
            root, given = _configuration(machine, entry, names)
        except (Raised, RecursionError):
            pass
        except (OutOfSteps, CannotJoin):
            complete = False
        taken = machine.path.taken
        pending += [
            (*(outcome for outcome, _ in taken[:position]), not taken[position][0])
            for position in range(len(taken) - 1, len(prefix) - 1, -1)
        ]
        here = list(path_yields(machine, root, spans, names))
        for each in here:
            found.setdefault(each.key, []).append(each)
        changed.update(value.text for value in given if any(value is each.container for each in here))
        if not here:
            idle += [(value, variant_of(machine, value, spans)) for value in given]
    machine.finish()
    return list(_recipes(entry, found, [variant for value, variant in idle if value.text in changed], complete))


def _recipes(
    entry: Entry, found: Mapping[Hashable, list[Yield]], idle: list[Variant], complete: bool
) -> Iterable[Found]:
    """The recipes of an entry point. Not `complete`: only what all paths launch counts."""
    groups = [without_repeats(group) for group in found.values() if any(each.configures for each in group)]
    if not complete:
        groups = [group for group in groups if group[0].key != RESULT and not group[0].variant.when]
    recipes: dict[object, tuple[Recipe, Yield]] = {}
    for group in groups:
        variants = tuple(each.variant for each in group)
        # A function that is there to change what it is given may leave that as it is on some paths.
        variants += tuple(idle) if group[0].key == RESULT or any(each.partial for each in group) else ()
        recipe = Recipe(
            entry.name,
            entry.qualified_name,
            entry.module.path,
            entry.line,
            entry.kind,
            variants,
            any(each.partial for each in group),
            dict(entry.arguments or {}),
        )
        recipes.setdefault(content(recipe) if len(groups) > 1 else None, (recipe, group[0]))
    where = lines(entry.module, [first for _, first in recipes.values()])
    for number, ((recipe, first), line) in enumerate(zip(recipes.values(), where, strict=True), 1):
        if len(recipes) > 1:
            mark = f"[{number}]"
            recipe = replace(
                recipe, name=recipe.name + mark, qualified_name=recipe.qualified_name + mark, line=line or recipe.line
            )
        yield Found(recipe, first.key != RESULT, first.names)


def _configuration(machine: Machine, entry: Entry, names: dict[str, Object]) -> tuple[Object, list[Unknown]]:
    """What an entry point hands back; and of what it is called with, that which is not known.

    A script fills `names` with its global names.
    """
    if entry.kind == "function":
        keywords, given = _arguments(machine, entry)
        return _from_function(machine, entry, keywords, given), given
    if entry.kind == "module":
        return resolve_global(machine, entry.module, entry.name), []
    return _from_script(machine, entry, names), []


def _from_function(machine: Machine, entry: Entry, keywords: dict[str, Object], given: list[Unknown]) -> Object:
    function = entry.function
    assert function is not None
    frame = Frame(entry.module, "", None, None, None)
    receiver = [] if entry.cls is None else [_receiver(machine, entry.cls, function, frame)]
    result = call(machine, entry.partial or function, receiver, keywords, function.node, frame)
    if isinstance(result, Function) and result.closure is not None and _needs_nothing(result):
        # A function inside of it is what it hands back.
        result = call(machine, result, [], {}, function.node, frame)
    if isinstance(result, Choice):
        configurations = [one for one in result.options if isinstance(one, Unknown) or is_container(machine, one)]
        return one_of(machine, configurations, f"{entry.name}()", RUN_LIMIT) if configurations else None
    if is_container(machine, result) or may_be_one(machine, result):
        return result
    if isinstance(result, tuple):
        for item in result:
            if is_container(machine, item):
                return item
    for value in given:
        if changed_from_outside(value):
            return value
    # On other paths the same function may yield a configuration that is known; of this path nothing is.
    result = machine.settle(result)
    if any(result is value for value in given):
        return result
    handed = machine.path.launches.fields
    return result if not handed and isinstance(result, Unknown) else None


def _needs_nothing(function: Function) -> bool:
    parameters = function.node.args
    return all(
        each.arg in function.defaults for each in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    )


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


def script(machine: Machine, module: Module) -> Entry | None:
    """A module as a script: its `if __name__ == "__main__":` part, or the calls that stand alone at its top level."""
    start = _guard(module) or next(_lone_calls(module.tree), None)
    return None if start is None else Entry(module.name.rpartition(".")[2], module, "script", start.lineno)


def _guard(module: Module) -> ast.stmt | None:
    for node in module.tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test):
            return node
    return None


def _lone_calls(node: ast.AST) -> Iterator[ast.stmt]:
    """Calls that are statements of their own, outside of functions and classes."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            yield inner
        elif isinstance(inner, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            yield from _lone_calls(inner)


def _from_script(machine: Machine, entry: Entry, names: dict[str, Object]) -> Object:
    source = entry.module
    main = Module(source.path, source.name, source.tree)
    main.ran = True
    main.asked_for = source.asked_for
    main.born = machine.tick()
    main.fields = names
    main.fields["__name__"] = "__main__"
    main.fields["__file__"] = f"<DIR>/{os.path.basename(source.path)}"
    frame = Frame(main, born=main.born)
    frame.fields = main.fields
    try:
        run_block(machine, source.tree.body, frame)
    except Raised as error:
        if error.name != "SystemExit":
            raise
    if machine.path.launches.fields or _guard(source) is None:
        return None
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
